// What the scheduler decided and why, down to the last addend. One decision is one row, one log line and one sentence.

import type { DecisionId, DeviceId, HintId, JobId, ModelName, PoolId } from "./ids.ts";

/**
 * - `swap`: evict and load. `load`: load into free memory. `preload`: a load nobody waits for yet.
 * - `unload`: take out without bringing in (idle for long, an operator's wish, a load or drain nobody wants any more).
 * - `hold`: work waits for another model, and it goes on waiting. `idle`: nothing waits, or nothing that can be served.
 */
export type DecisionKind = "swap" | "load" | "preload" | "unload" | "hold" | "idle";

export type DecisionReason =
  // moves
  | "cold"
  | "fits"
  | "challenger_wins"
  | "resident_idle"
  | "resident_unavailable"
  | "ceiling"
  | "longest_queue"
  | "arrival_order"
  | "restore"
  | "keep_ready"
  | "preload"
  | "pinned"
  | "operator"
  | "free"
  | "worth"
  | "visit"
  | "deadline"
  | "idle_timeout"
  | "unwanted"
  | "yielded"
  | "removed"
  | "drain"
  // stays
  | "pin"
  | "unpin"
  | "no_work"
  | "serving"
  | "resident_wins"
  | "min_residency"
  | "serve_first"
  | "forced_swap_spent"
  | "finish"
  | "not_worth"
  | "budget"
  | "likely_needed"
  | "quantum"
  | "back_off"
  | "paused"
  | "no_room"
  | "loading"
  | "draining"
  | "unloading"
  | "blocked";

/** The hard rule that spoke above the scores, if one did. */
export type Guard =
  | "ceiling"
  | "min_residency"
  | "idle_lapse"
  | "serve_first"
  | "forced_swap_spent"
  | "pinned"
  | "back_off"
  | "paused"
  | "in_transition";

/** One candidate's arithmetic. `score` is what the policy compares, from `terms`; null where it scores nothing. */
export interface Scored {
  readonly model: ModelName;
  readonly depth: number;
  readonly oldestWaitMs: number;
  /** The model's own priority. */
  readonly priority: number;
  /** Named addends in the policy's units, e.g. `age_term`, `depth_term`. */
  readonly terms: Readonly<Record<string, number>>;
  /** Charged for making it resident; 0 for a resident, or when it is not charged. */
  readonly switchCost: number;
  readonly score: number | null;
  readonly eligible: boolean;
  readonly whyNot: string | null;
}

export interface ResidentView {
  readonly model: ModelName;
  readonly forMs: number;
  readonly idleMs: number;
}

/** Why a model is loaded before anybody has asked for it. Weighted seconds of waiting, unless the name says otherwise. */
export interface PreloadTerms {
  readonly model: ModelName;
  readonly source: "hint" | "cron" | "daily";
  readonly hint: HintId | null;
  readonly dueAtMs: number;
  /** Until then; below 0 when that has passed. */
  readonly dueInMs: number;
  readonly probability: number;
  /** Summed weight of the jobs that come while a load would run. */
  readonly burst: number;
  readonly loadMs: number;
  /** probability x burst x load */
  readonly gain: number;
  /** The load itself, at the price of a load second. */
  readonly price: number;
  /** What the evicted models' own jobs would wait if they came first, times the chance that this load is in vain. */
  readonly risk: number;
  /** The gain must exceed so many times price plus risk. */
  readonly margin: number;
  /** Of the device's budget for such loads, after this one. */
  readonly leftMs: number;
}

/** What `decide()` returns: pure, without identity. */
export interface Verdict {
  readonly kind: DecisionKind;
  readonly reason: DecisionReason;
  readonly guard: Guard | null;
  readonly device: DeviceId;
  readonly load: ModelName | null;
  readonly evict: readonly ModelName[];
  readonly resident: readonly ResidentView[];
  readonly models: readonly Scored[];
  /** The jobs that made it so: the head and the oldest of the model that is loaded or kept waiting. */
  readonly jobs: readonly JobId[];
  /** Only where a model is loaded ahead of need. */
  readonly preload?: PreloadTerms;
  /** The next instant at which a score or a guard can change with no event; null when none can. */
  readonly nextLookAtMs: number | null;
  /** What the rule compared, by name, in the policy's units; absent: a rule that compares nothing. */
  readonly numbers?: Readonly<Record<string, number>>;
  /** The model whose claim `numbers` weigh; absent or null: see `load`. */
  readonly about?: ModelName | null;
  /** What the move takes from the budget for cutting into unfinished queues; absent or null: it takes nothing. */
  readonly spend?: Spend | null;
}

/** Of the budget for cutting into unfinished queues: seconds of loading, in ms. */
export interface Spend {
  readonly beforeMs: number;
  readonly afterMs: number;
}

export interface Decision extends Verdict {
  readonly id: DecisionId;
  readonly pool: PoolId;
  readonly policy: string;
  /** Router time. */
  readonly atMs: number;
  /** Wall clock, for display. */
  readonly wallMs: number;
  readonly sentence: string;
  /** The caller who asked for it by hand; absent: nobody did. */
  readonly askedBy?: string;
  /** Of a stay that was confirmed; absent: there was one look. */
  readonly looks?: Looks;
}

/** How long a stay lasted, and the race meanwhile. */
export interface Looks {
  /** How many looks came to the same, the first among them. */
  readonly times: number;
  /** Router time. */
  readonly lastAtMs: number;
  /** Oldest first, at most `TRAIL_MAX`. */
  readonly trail: readonly Sample[];
}

/** The scores at one look, of those that were loaded or waited. */
export interface Sample {
  /** Router time. */
  readonly atMs: number;
  readonly scores: Readonly<Record<ModelName, number | null>>;
}

export const TRAIL_MAX = 120;
