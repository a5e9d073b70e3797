// The JSON of an explanation: where a job's time went, in parts that touch and sum exactly, and what would change it.
// Instants are Unix milliseconds, durations milliseconds, all whole numbers, so that sums are exact.

import type { WireStatus } from "./wire.ts";

/** In order of precedence: at each millisecond the first true one holds. */
export type CauseWire =
  | "router_down"
  | "running"
  | "lost_attempt"
  | "paused"
  | "retry_backoff"
  | "model_broken"
  | "loading"
  | "unloading"
  | "draining"
  | "own_queue"
  | "share_limit"
  | "held"
  | "dispatch";

/** What a stretch is about; keys that do not apply are null. */
interface SubjectWire {
  readonly cause: CauseWire;
  /** Only of `held`: the rule that let another model stay. */
  readonly rule: string | null;
  /** The model that holds the device, or has to go for it. */
  readonly by: string | null;
  readonly device: string | null;
  readonly decision: string | null;
}

export interface StretchWire extends SubjectWire {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** All stretches of one cause, rule and culprit. `decision`: the first of them. */
export interface PartWire extends SubjectWire {
  readonly ms: number;
  /** 0 to 1, of the whole life. */
  readonly share: number;
  readonly stretches: number;
  readonly from_ms: number;
  readonly to_ms: number;
  /** What people call the cause. */
  readonly title: string;
  /** What happened, without a full stop. */
  readonly text: string;
  /** Configuration keys, commands or facts that would change it; empty: nothing would. */
  readonly levers: readonly string[];
  /**
   * Of `running`, for a streamed answer: until its first byte, and from then on; they sum to `ms`. Null: it does not apply, or
   * is not known.
   */
  readonly first_token_ms: number | null;
  readonly generating_ms: number | null;
  /**
   * Of `own_queue`: jobs of its own model that were started while it was queued, whenever they had come, and of them those of a
   * higher band. Null: it does not apply, or a router that is gone saw some of them.
   */
  readonly went_first: number | null;
  readonly went_first_higher: number | null;
}

/** A decision that passed the job over or brought it in; consecutive looks with the same outcome are one. */
export interface ExplainingDecisionWire {
  readonly id: string;
  readonly at_ms: number;
  /** The last look that came to the same; `at_ms` where there was one. */
  readonly last_at_ms: number;
  readonly times: number;
  readonly kind: string;
  readonly reason: string;
  readonly device: string;
  readonly sentence: string;
  /** The job's own model at that look; null: it was no candidate. */
  readonly own: { readonly score: number | null; readonly depth: number; readonly oldest_seconds: number } | null;
  /** Who stayed or came; null: nobody. */
  readonly winner: { readonly model: string; readonly score: number | null } | null;
  /** The race while it lasted: instant, own score, the winner's. At most 120, oldest first. */
  readonly trail: readonly (readonly [at_ms: number, own: number | null, winner: number | null])[];
}

/** When a queued job's turn is expected. Absent figures are null: nothing is guessed below 20 observations. */
export interface ExpectationWire {
  /** 0 is next of its model. */
  readonly position: number | null;
  readonly low_ms: number | null;
  readonly mid_ms: number | null;
  readonly high_ms: number | null;
  /** The policy's bound on when its model is loaded at the latest: a promise, not an estimate. */
  readonly bound_ms: number | null;
  readonly text: string;
}

/** `GET /v1/jobs/{id}/explain`, `sir explain` and the job's page: the same document. */
export interface ExplanationWire {
  readonly object: "job.explanation";
  readonly job: string;
  readonly model: string;
  readonly label: string;
  readonly status: WireStatus;
  /** False: the job lives, and the last part goes on. */
  readonly final: boolean;
  /** True: the records it would be cut from are gone; parts are what was summed up when the job ended. */
  readonly partial: boolean;
  readonly from_ms: number;
  readonly to_ms: number;
  /** The sum of the parts, exactly. */
  readonly total_ms: number;
  readonly wait_ms: number;
  readonly run_ms: number;
  readonly summary: string;
  readonly summary_code: string;
  /** In order of first appearance. */
  readonly parts: readonly PartWire[];
  readonly stretches: readonly StretchWire[];
  /** How many stretches were merged into their neighbours to keep the list short. */
  readonly merged: number;
  readonly decisions: readonly ExplainingDecisionWire[];
  /** Null unless it is queued. */
  readonly expected: ExpectationWire | null;
  /** A command that shows what another setting would have done; null: none would help. */
  readonly try: string | null;
}
