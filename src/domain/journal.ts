// What the log of the router says: decisions, why queues waited, loads, when work began, what was configured.

import type { Grain, Span } from "./change.ts";
import type { Decision, Looks } from "./decision.ts";
import type { LoadOutcome, LoadTier } from "./event.ts";
import type { DecisionId, DeviceId, InstanceId, ModelName } from "./ids.ts";
import type { Minute } from "./minute.ts";
import type { Pause } from "./pause.ts";
import type { Shadow, Tuning } from "./tuning.ts";
import type { Wait } from "./wait.ts";

export interface LoadRecord {
  readonly instance: InstanceId;
  readonly model: ModelName;
  readonly device: DeviceId;
  readonly decision: DecisionId | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: LoadOutcome;
  /** What kind of load it was; null when it did not succeed. */
  readonly tier: LoadTier | null;
  readonly detail: string | null;
}

/** The first job of a model after a pause. Router time. */
export interface SessionStart {
  readonly model: ModelName;
  readonly startedAtMs: number;
  /** Summed weight of the jobs that came while a load would have run. */
  readonly weight: number;
}

/** What was learned of one thing, in place of what was noted of it before. */
export interface LearnedNote {
  /** E.g. `model chat`. Of those who write it. */
  readonly key: string;
  /** Read back as JSON. */
  readonly note: object;
}

/** Entries that follow what they explain into the next group commit; never waited for. */
export type LogEntry =
  | { readonly type: "decision"; readonly decision: Decision }
  /** How often it was confirmed until now, in place of what was said before. */
  | { readonly type: "decision.looks"; readonly id: DecisionId; readonly looks: Looks }
  | { readonly type: "wait.open"; readonly wait: Wait }
  | { readonly type: "wait.close"; readonly model: ModelName; readonly toMs: number }
  | { readonly type: "load"; readonly load: LoadRecord }
  /** Written when it starts, and again when its weight is known. */
  | { readonly type: "session"; readonly session: SessionStart }
  /** The configuration that decides from now on; written only where it differs from the last. */
  | { readonly type: "setup"; readonly atMs: number; readonly setup: object }
  /** Written when it begins, and again when it ends. */
  | { readonly type: "pause"; readonly pause: Pause }
  /** Likewise. */
  | { readonly type: "span"; readonly grain: Grain; readonly span: Span }
  | { readonly type: "minutes"; readonly minutes: readonly Minute[] }
  | { readonly type: "learned"; readonly notes: readonly LearnedNote[] }
  | { readonly type: "shadow"; readonly shadow: Shadow }
  | { readonly type: "tuning"; readonly tuning: Tuning };
