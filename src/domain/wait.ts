// Why a queue waits: the closed list of causes that splits a job's life without gap or overlap.

import type { DecisionId, DeviceId, ModelName } from "./ids.ts";

/** Causes that hold for a whole model's queue; recorded by the engine whenever one changes. */
export type QueueCause =
  | "paused"
  | "model_broken"
  | "loading"
  | "unloading"
  | "draining"
  | "own_queue"
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
  readonly fromMs: number;
  readonly toMs: number | null;
}
