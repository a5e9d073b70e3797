// A job: the durable record of one request, and the only ways its state may change.
//
//              accept
//                │
//   ┌───────── queued ◄───────────┐ requeue: an attempt failed and more are allowed,
//   │    │       │ claim          │          or it was interrupted (restart, lost engine)
//   │    │       ▼                │
//   │    │     running ───────────┘
//   │    │       │
//   │    │       ├─► succeeded    the answer is stored in the same transaction
//   │    ├───────┼─► failed       the engine refused it, or attempts are used up
//   │    └───────┼─► cancelled    by its client, its lapsed lease, its deadline, an operator, a closed socket
//   └────────────┴─► expired      its deadline passed before it started
//
// Final states never change. Every arrow but `succeeded` and `failed` raises the epoch, and so does a claim: whoever
// still holds the old epoch can change nothing.

import type { ErrorCode } from "./errors.ts";
import type { CallerId, DecisionId, InstanceId, JobId, ModelName, OwnerId, PoolId } from "./ids.ts";
import type { Cause } from "./wait.ts";

export type JobStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";
export type CancelReason = "client" | "lease_expired" | "deadline" | "admin" | "disconnect";

/** Why a job failed, as its receipt says it. */
export interface JobError {
  readonly code: ErrorCode | "engine_refused";
  readonly message: string;
}

export type JobState =
  | { readonly status: "queued" }
  | {
      readonly status: "running";
      readonly owner: OwnerId;
      readonly instance: InstanceId;
      readonly startedAtMs: number;
    }
  | {
      readonly status: "succeeded";
      readonly startedAtMs: number;
      readonly finishedAtMs: number;
    }
  | {
      readonly status: "failed";
      readonly startedAtMs: number | null;
      readonly finishedAtMs: number;
      readonly error: JobError;
    }
  | {
      readonly status: "cancelled";
      readonly startedAtMs: number | null;
      readonly finishedAtMs: number;
      readonly reason: CancelReason;
    }
  | { readonly status: "expired"; readonly finishedAtMs: number };

/**
 * Who waits for the answer: whoever polls its receipt, a synchronous caller's socket (its first one or, after a redirect,
 * the next), or nobody (a background response, kept until its time).
 */
export type JobOrigin = "receipt" | "socket" | "background";

/** Instants are router time in ms unless said otherwise. */
export interface Job {
  readonly id: JobId;
  readonly pool: PoolId;
  readonly caller: CallerId;
  readonly model: ModelName;
  /** The request's path as the engine knows it, e.g. `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly priority: number;
  /** Lower runs first within a model; equal ranks run in the order of their ids. */
  readonly rank: number;
  readonly stream: boolean;
  readonly origin: JobOrigin;
  /** False: a plain synchronous request. Its body is not stored, and it does not outlive its router. */
  readonly durable: boolean;
  /** Wall clock at acceptance, for display. */
  readonly createdAtMs: number;
  readonly acceptedAtMs: number;
  /** Null: nobody has to poll. */
  readonly leaseMs: number | null;
  readonly deadlineAtMs: number | null;
  readonly epoch: number;
  readonly attempts: number;
  readonly interruptions: number;
  /** Not to be started before this instant (back-off); 0 when it may start at once. */
  readonly runAfterMs: number;
  readonly traceparent: string | null;
  readonly clientRequestId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly dispatch: Dispatch | null;
  /** First complete read of the answer. */
  readonly resultReadAtMs: number | null;
  /** The answer was removed; the row stays until the idempotency window ends. */
  readonly resultPurgedAtMs: number | null;
  /** When the answer will be removed; null while the job is live. */
  readonly purgeAfterMs: number | null;
  /** Null while it is live, and where it ended before this was kept. */
  readonly spent: Spent | null;
  readonly state: JobState;
}

/** Where a final job's time went, in whole ms: what is left of its explanation when the records have gone. */
export interface Spent {
  /** All of its life that it did not run. */
  readonly waitMs: number;
  readonly runMs: number;
  /** What took most of the wait; null: it did not wait. */
  readonly topCause: Cause | null;
  /** In order of first appearance; they sum to wait and run together. */
  readonly parts: readonly { readonly cause: Cause; readonly ms: number }[];
  /** Absent: it did not wait for a slot, or not all of them were seen. */
  readonly wentFirst?: WentFirst;
}

/** Jobs of its own model that were started while it was queued, whenever they had come. */
export interface WentFirst {
  readonly jobs: number;
  /** Of them those in a more urgent band. */
  readonly higher: number;
}

/** What only the router that serves a job sees of it; stored when it ends. */
export interface Noticed {
  /** Of the attempt that runs; null: none has come. */
  readonly firstByteAtMs: number | null;
  /** Null: not all of them were seen. */
  readonly wentFirst: WentFirst | null;
}

/** What was true when the job last left the queue; kept for explanations. */
export interface Dispatch {
  readonly decision: DecisionId | null;
  readonly score: number | null;
  readonly queueWaitMs: number;
  /** Which term put it before a job that arrived earlier; null when it went in order of arrival. */
  readonly reorder: ReorderCause | null;
}
export type ReorderCause = "priority" | "aging" | "swap_affinity" | "resident";

export function isFinal(status: JobStatus): boolean {
  return status !== "queued" && status !== "running";
}

export type JobEvent =
  | { readonly type: "claim"; readonly owner: OwnerId; readonly instance: InstanceId; readonly atMs: number }
  | { readonly type: "succeed"; readonly atMs: number }
  | { readonly type: "fail"; readonly atMs: number; readonly error: JobError }
  | { readonly type: "requeue" }
  | { readonly type: "cancel"; readonly atMs: number; readonly reason: CancelReason }
  | { readonly type: "expire"; readonly atMs: number };

/** The state after `event`, or null when there is no such arrow. Pure; the store's statements are the same arrows. */
export function transition(state: JobState, event: JobEvent): JobState | null {
  if (isFinal(state.status)) return null;
  const startedAtMs = state.status === "running" ? state.startedAtMs : null;
  switch (event.type) {
    case "claim":
      if (state.status !== "queued") return null;
      return { status: "running", owner: event.owner, instance: event.instance, startedAtMs: event.atMs };
    case "succeed":
      return startedAtMs === null ? null : { status: "succeeded", startedAtMs, finishedAtMs: event.atMs };
    case "fail":
      return { status: "failed", startedAtMs, finishedAtMs: event.atMs, error: event.error };
    case "requeue":
      return startedAtMs === null ? null : { status: "queued" };
    case "cancel":
      return { status: "cancelled", startedAtMs, finishedAtMs: event.atMs, reason: event.reason };
    case "expire":
      return startedAtMs === null ? { status: "expired", finishedAtMs: event.atMs } : null;
  }
}
