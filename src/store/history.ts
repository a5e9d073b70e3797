// What was recorded of traffic, read back in pages: enough to run it again under other settings. No body, no answer,
// no caller. Instants are router time; ranges include their start and exclude their end.

import type { DecisionKind, DecisionReason } from "../domain/decision.ts";
import type { DecisionId, DeviceId, InstanceId, JobId, ModelName } from "../domain/ids.ts";
import type { JobStatus } from "../domain/job.ts";
import type { LoadRecord } from "../domain/journal.ts";
import type { Pause } from "../domain/pause.ts";
import type { Shadow, Tuning } from "../domain/tuning.ts";

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface PastQuery extends Range {
  /** A page's `next`; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
}

export interface PastPage<T> {
  readonly data: readonly T[];
  /** Opaque; null: this was the last page. */
  readonly next: string | null;
}

export interface PastRun {
  readonly startedAtMs: number;
  /** Null: it still runs. */
  readonly endedAtMs: number | null;
  /** As in the attempts: `succeeded`, `refused`, `failed`, `busy`, `lost`, `aborted`, `cancelled`; null while it runs. */
  readonly outcome: string | null;
  readonly instance: InstanceId;
}

export interface PastJob {
  readonly id: JobId;
  readonly model: ModelName;
  readonly priority: number;
  readonly status: JobStatus;
  /** Why it was cancelled, or the code it failed with. */
  readonly reason: string | null;
  readonly acceptedAtMs: number;
  readonly deadlineAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Its attempts in order. */
  readonly runs: readonly PastRun[];
}

/** A decision that moved something. */
export interface PastMove {
  readonly id: DecisionId;
  readonly atMs: number;
  readonly kind: Exclude<DecisionKind, "hold" | "idle">;
  readonly reason: DecisionReason;
  readonly policy: string;
  readonly device: DeviceId;
  readonly load: ModelName | null;
  readonly evict: readonly ModelName[];
}

/** The configuration that decided from `atMs` on, as JSON; who reads it checks it. */
export interface SetupRecord {
  readonly atMs: number;
  readonly setup: unknown;
}

/** Kept for 30 days, or half a million jobs; moves for 7 days, loads for 90. */
export interface History {
  /** Jobs whose ids were made in the range, in the order of ids; live ones too. */
  jobs(query: PastQuery): Promise<PastPage<PastJob>>;
  /** Loads that ended in the range, by end. */
  loads(query: PastQuery): Promise<PastPage<LoadRecord>>;
  /** Decisions in the range that moved something, by time. */
  moves(query: PastQuery): Promise<PastPage<PastMove>>;
  shadows(query: PastQuery): Promise<PastPage<Shadow>>;
  /** What was configured in the range, oldest first; the first may begin before it. */
  setups(range: Range): Promise<readonly SetupRecord[]>;
  /** Intervals in which no router held the store, oldest first. */
  downtimes(range: Range): Promise<readonly Range[]>;
  /** What operators paused, where it reaches into the range, oldest first; what still holds has no end. */
  pauses(range: Range): Promise<readonly Pause[]>;
  /** When the first and the last recorded job were accepted; null: there is none. */
  span(): Promise<Range | null>;
  /** The newest first. */
  tunings(limit: number): Promise<readonly Tuning[]>;
}

const NONE = Promise.resolve({ data: [], next: null });
const NOTHING = Promise.resolve([]);

/** Of a store that keeps none. */
export const NO_HISTORY: History = {
  jobs: () => NONE,
  loads: () => NONE,
  moves: () => NONE,
  shadows: () => NONE,
  setups: () => NOTHING,
  downtimes: () => NOTHING,
  pauses: () => NOTHING,
  span: () => Promise.resolve(null),
  tunings: () => NOTHING,
};
