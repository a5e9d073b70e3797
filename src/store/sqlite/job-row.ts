// A job's row and the job it stands for, both ways.

import type { CallerId, DecisionId, InstanceId, JobId, ModelName, OwnerId, PoolId } from "../../domain/ids.ts";
import type {
  CancelReason,
  Dispatch,
  Job,
  JobError,
  JobOrigin,
  JobState,
  JobStatus,
  ReorderCause,
  Spent,
} from "../../domain/job.ts";
import { type Ranking, rankOf } from "../../domain/ranking.ts";
import type { Cause } from "../../domain/wait.ts";
import type { NewJob } from "../store.ts";
import type { JobRow } from "./schema.ts";

/** A status is stored as its place in this list. */
export const STATUSES: readonly JobStatus[] = ["queued", "running", "succeeded", "failed", "cancelled", "expired"];

/** An origin is stored as its place in this list. */
export const ORIGINS: readonly JobOrigin[] = ["receipt", "socket", "background"];

export const QUEUED = 0;
export const RUNNING = 1;
export const SUCCEEDED = 2;
export const FAILED = 3;
export const CANCELLED = 4;
export const EXPIRED = 5;

/** When a verb was called: router time, and the wall clock for show. */
export interface Stamp {
  readonly atMs: number;
  readonly wallMs: number;
}

/**
 * A new job as it will be stored; row and first answer are both made from it, so they cannot differ.
 */
export function acceptedJob(job: NewJob, at: Stamp, ranking: Ranking, durable: boolean): Job {
  return {
    id: job.id,
    pool: job.pool,
    caller: job.caller,
    model: job.model,
    endpoint: job.endpoint,
    priority: job.priority,
    rank: rankOf(ranking, { acceptedAtMs: at.atMs, priority: job.priority }),
    stream: job.stream,
    origin: job.origin ?? "receipt",
    durable,
    createdAtMs: Math.floor(at.wallMs),
    acceptedAtMs: at.atMs,
    leaseMs: job.leaseMs,
    deadlineAtMs: job.deadlineMs === null ? null : at.atMs + job.deadlineMs,
    epoch: 0,
    attempts: 0,
    interruptions: 0,
    runAfterMs: 0,
    traceparent: job.traceparent,
    clientRequestId: job.clientRequestId,
    metadata: job.metadata,
    dispatch: null,
    resultReadAtMs: null,
    resultPurgedAtMs: null,
    purgeAfterMs: null,
    spent: null,
    state: { status: "queued" },
  };
}

export function toJob(row: JobRow): Job {
  return {
    id: row.id as JobId,
    pool: row.pool as PoolId,
    caller: row.caller as CallerId,
    model: row.model as ModelName,
    endpoint: row.endpoint,
    priority: row.priority,
    rank: row.rank,
    stream: row.stream === 1,
    origin: ORIGINS[row.origin] ?? "receipt",
    durable: row.durable === 1,
    createdAtMs: row.created_wall_ms,
    acceptedAtMs: row.accepted_ms,
    leaseMs: row.lease_ms,
    deadlineAtMs: row.deadline_ms,
    epoch: row.epoch,
    attempts: row.attempts,
    interruptions: row.interruptions,
    runAfterMs: row.run_after_ms,
    traceparent: row.traceparent,
    clientRequestId: row.client_request_id,
    metadata: row.metadata === "{}" ? {} : (JSON.parse(row.metadata) as Record<string, string>),
    dispatch: toDispatch(row),
    resultReadAtMs: row.read_ms,
    resultPurgedAtMs: row.purged_ms,
    purgeAfterMs: row.purge_after_ms,
    spent: toSpent(row),
    state: toState(row),
  };
}

function toDispatch(row: JobRow): Dispatch | null {
  if (row.queue_wait_ms === null) return null;
  return {
    decision: row.decision as DecisionId | null,
    score: row.score,
    queueWaitMs: row.queue_wait_ms,
    reorder: row.reorder as ReorderCause | null,
  };
}

function toSpent(row: JobRow): Spent | null {
  if (row.parts === null) return null;
  const parts = JSON.parse(row.parts) as [Cause, number, number?, number?][];
  const [, , jobs, higher = 0] = parts.find(([cause]) => cause === "own_queue") ?? [];
  return {
    waitMs: row.wait_ms ?? 0,
    runMs: row.run_ms ?? 0,
    topCause: row.top_cause as Cause | null,
    parts: parts.map(([cause, ms]) => ({ cause, ms })),
    ...(jobs === undefined ? {} : { wentFirst: { jobs, higher } }),
  };
}

function toState(row: JobRow): JobState {
  if (row.status === QUEUED) return { status: "queued" };
  const startedAtMs = row.started_ms;
  if (row.status === RUNNING) {
    return {
      status: "running",
      owner: row.owner as OwnerId,
      instance: row.instance as InstanceId,
      startedAtMs: startedAtMs ?? 0,
    };
  }
  const finishedAtMs = row.finished_ms ?? 0;
  switch (row.status) {
    case SUCCEEDED:
      return { status: "succeeded", startedAtMs: startedAtMs ?? 0, finishedAtMs };
    case FAILED: {
      const error = { code: row.error_code, message: row.error_message ?? "" } as JobError;
      return { status: "failed", startedAtMs, finishedAtMs, error };
    }
    case CANCELLED:
      return { status: "cancelled", startedAtMs, finishedAtMs, reason: row.cancel_reason as CancelReason };
    default:
      return { status: "expired", finishedAtMs };
  }
}
