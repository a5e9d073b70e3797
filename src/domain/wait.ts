// Why a queue waits: the closed list of causes that splits a job's life without gap or overlap.

import type { DecisionId, DeviceId, ModelName } from "./ids.ts";

/** What more was known when a stretch began; keys that do not apply to its cause are absent. */
export interface WaitDetail {
  /** Of `paused`: what was paused. */
  readonly scope?: "router" | "device" | "model";
  /** Of `paused`, and of what an operator asked for by hand: who did it. Null: not said. */
  readonly who?: string | null;
  /** Of `paused`: what they left as a note. */
  readonly note?: string | null;
  /** Of `model_broken`: the last failure, and when it is tried again (router time; 0: not by itself). */
  readonly error?: string;
  readonly retryAtMs?: number;
  /** Of `held` by a move: what is named by it goes, and nothing comes. */
  readonly goes?: true;
  /** Of `draining`: jobs that still ran on what has to go. */
  readonly running?: number;
  /** Of `share_limit`: how many jobs its caller may have at once. */
  readonly limit?: number;
}

/** Causes that hold for a whole model's queue; recorded by the engine whenever one changes. */
export type QueueCause =
  /** A router has the store and starts nothing yet, or nothing more. */
  | "router_down"
  | "paused"
  | "model_broken"
  | "loading"
  | "unloading"
  | "draining"
  | "own_queue"
  | "share_limit"
  | "held"
  | "dispatch";

/** All causes in their order of precedence: at each millisecond the first true one holds. */
export const CAUSES = [
  "router_down",
  "running",
  "lost_attempt",
  "paused",
  "retry_backoff",
  "model_broken",
  "loading",
  "unloading",
  "draining",
  "own_queue",
  "share_limit",
  "held",
  "dispatch",
] as const;
export type Cause = (typeof CAUSES)[number];

/** Which rule held a queue back; one to one with the reasons of decisions. */
export type HoldRule =
  | "score"
  | "min_residency"
  | "serve_first"
  | "pinned"
  | "no_room"
  | "forced_swap_spent"
  | "order"
  | "not_worth"
  | "budget"
  | "likely_needed"
  | "quantum"
  | "switching_other"
  | "own_move";

/** One stretch of one model's queue. `toMs` null: it still holds. Router time. */
export interface Wait {
  readonly model: ModelName;
  readonly cause: QueueCause;
  readonly rule: HoldRule | null;
  /** The model that holds the device or is in the way. */
  readonly by: ModelName | null;
  readonly device: DeviceId | null;
  readonly decision: DecisionId | null;
  /** Absent: nothing more is known. */
  readonly detail?: WaitDetail;
  readonly fromMs: number;
  readonly toMs: number | null;
}
