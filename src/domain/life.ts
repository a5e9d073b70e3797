// What an explanation is made of: stretches of a job's life with one cause each, the parts they sum to, and the facts that
// both are cut from. Instants and durations are router time in whole milliseconds.

import type { Decision } from "./decision.ts";
import type { LoadTier } from "./event.ts";
import type { DecisionId, DeviceId, ModelName } from "./ids.ts";
import type { Job, WentFirst } from "./job.ts";
import type { LoadRecord } from "./journal.ts";
import type { Cause, HoldRule, Wait, WaitDetail } from "./wait.ts";

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What more is known of a stretch; keys that do not apply to its cause are absent. */
export interface StretchDetail extends WaitDetail {
  /** Of `loading`; absent while it goes on or when it failed. */
  readonly tier?: LoadTier;
  /** Of `lost_attempt`, `retry_backoff` and `running`: which attempt, from 1. */
  readonly attempt?: number;
  /** Of `lost_attempt` and `retry_backoff`, with the engine's or router's words: `busy`, `lost: connection refused`. */
  readonly outcome?: string;
  /** Of `running` and `lost_attempt`: when the first byte came (of a stream: of what follows its head); absent: none did. */
  readonly firstByteAtMs?: number;
  /** Of `running` as a part, and of a streamed answer only: until its first byte, and from then on; they sum to it. */
  readonly answer?: { readonly firstTokenMs: number; readonly generatingMs: number; readonly begun: boolean };
  /** Of `own_queue` as a part; absent: not all of them were seen. */
  readonly wentFirst?: WentFirst;
}

/** What a stretch is about. */
export interface Subject {
  readonly cause: Cause;
  /** Only of `held`. */
  readonly rule: HoldRule | null;
  /** The model that holds the device, or has to go for it. */
  readonly by: ModelName | null;
  readonly device: DeviceId | null;
  readonly decision: DecisionId | null;
}

export interface Stretch extends Subject, Span {
  readonly detail: StretchDetail;
}

/** All stretches of one cause, rule and culprit; decision, device and detail are those of the longest. */
export interface Part extends Subject {
  readonly ms: number;
  readonly stretches: number;
  /** From the first stretch's start to the last one's end. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly detail: StretchDetail;
}

/** One try, as the store has it. */
export interface Try {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly firstByteAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly outcome: string | null;
  readonly detail: string | null;
  /** The job was not to be started again before this; null: it was not sent back, or at once. */
  readonly runAfterMs: number | null;
}

/** What a job's life is cut from. */
export interface LifeFacts {
  readonly job: Job;
  /** Ends the life of a job that is not final. */
  readonly nowMs: number;
  /** In order. */
  readonly attempts: readonly Try[];
  /** Stretches of the job's model; others are ignored. */
  readonly waits: readonly Wait[];
  readonly downtimes: readonly Span[];
  /** Finished loads of the job's model that touch its life; only tiers are taken from them. */
  readonly loads?: readonly LoadRecord[];
}

/** A life that was cut. */
export interface Split {
  /** In order; each begins where the one before ends. */
  readonly stretches: readonly Stretch[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly totalMs: number;
  /** In the queue, and no stretch of its model says why. */
  readonly unexplainedMs: number;
  /** Two stretches of its model at once. */
  readonly doubledMs: number;
}

/** A decision with how often it was confirmed. */
export interface Look {
  readonly decision: Decision;
  readonly times: number;
  readonly lastAtMs: number;
}

/** What people call a model. */
export type LabelOf = (model: ModelName) => string;

/** What the sentence on top is made from. */
export interface Life {
  readonly job: Job;
  readonly final: boolean;
  readonly parts: readonly Part[];
  readonly stretches: readonly Stretch[];
  /** The sum of the parts, exactly; `waitMs` is all of it that is not `running`. */
  readonly totalMs: number;
  readonly waitMs: number;
  readonly runMs: number;
  /** Oldest first. */
  readonly decisions: readonly Look[];
  /** The decision that last moved towards its model after it was held; null: none did. */
  readonly moved: Decision | null;
}

/** What `causes.ts` says of a part: see PartWire. */
export interface PartWords {
  readonly title: string;
  readonly text: string;
  readonly levers: readonly string[];
}

/** What `summary.ts` says of a life: see ExplanationWire. */
export interface Summary {
  readonly text: string;
  readonly code: string;
  readonly try: string | null;
}
