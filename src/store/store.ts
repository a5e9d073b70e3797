// The store as everybody else sees it: verbs with their atomicity, no connection and no transaction.
//
// Every verb ends in one of four ways: done, refused (a value), `StoreError("unavailable")` (nothing was written), or
// `StoreError("unknown")` (the write may have happened; safe to repeat only under an idempotency key or a fence).
// The store stamps time, so verbs take durations. A reader sees committed rows only.

import type { Decision, DecisionKind, DecisionReason } from "../domain/decision.ts";
import type { CallerId, DecisionId, DeviceId, InstanceId, JobId, ModelName, OwnerId, PoolId } from "../domain/ids.ts";
import type { CancelReason, Dispatch, Job, JobError, JobOrigin, JobStatus, Noticed, WentFirst } from "../domain/job.ts";
import type { LoadRecord, LogEntry } from "../domain/journal.ts";
import type { Ranking } from "../domain/ranking.ts";
import type { Wait } from "../domain/wait.ts";
import type { BatchVerbs } from "./batch-verbs.ts";
import type { DeliveryVerbs } from "./delivery-verbs.ts";
import type { FileVerbs } from "./file-verbs.ts";
import type { HintVerbs } from "./hint-verbs.ts";
import type { History } from "./history.ts";
import type { JobRowVerbs } from "./job-rows.ts";
import type { ModelLog } from "./model-log.ts";
import type { TimelineVerbs } from "./timeline-verbs.ts";

export { StoreError } from "./store-error.ts";

/** Where bytes lie: in a column, or `file:` under the data directory (later `s3:`). */
export type BodySource =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly uri: string };

export interface Body {
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Of the exact bytes the caller sent. */
  readonly sha256: Uint8Array;
  /** Request headers that go to the engine, lower case (`accept`, `user-agent`). */
  readonly headers: Readonly<Record<string, string>>;
  /** Byte offsets of the model's name inside the body (without quotes), for `upstreamName`; null when not needed. */
  readonly modelSpan: readonly [start: number, end: number] | null;
  readonly source: BodySource;
}

export interface NewJob {
  readonly id: JobId;
  readonly pool: PoolId;
  readonly caller: CallerId;
  readonly model: ModelName;
  readonly endpoint: string;
  readonly priority: number;
  readonly stream: boolean;
  readonly leaseMs: number | null;
  /** From acceptance. */
  readonly deadlineMs: number | null;
  readonly traceparent: string | null;
  readonly clientRequestId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly idempotency: { readonly key: string; readonly fingerprint: Uint8Array } | null;
  /** Default: `receipt`. */
  readonly origin?: JobOrigin;
}

/** A plain synchronous request that is to outlive its socket; `epoch` as its router knows it. */
export interface Keep {
  readonly id: JobId;
  readonly epoch: number;
  readonly body: Body;
  /** By what a repetition is recognised: endpoint and content; null when its caller does not count repetitions. */
  readonly repeat: Uint8Array | null;
}

export type Added =
  | { readonly kind: "added"; readonly job: Job }
  /** The same caller used the same key for the same request: this is its job. */
  | { readonly kind: "replayed"; readonly job: Job }
  | { readonly kind: "key_reused" }
  /** Over `maxStoredBytes` even after everything that was read has been removed. */
  | { readonly kind: "storage_full" };

/** Who may act for a pool. SQLite's authority is always valid: the lock file proves that there is no other owner. */
export interface Authority {
  readonly owner: OwnerId;
  readonly pool: PoolId;
  readonly term: number;
}

/** Matches only the very attempt it names: state running, this epoch, this owner. */
export interface Fence {
  readonly id: JobId;
  readonly epoch: number;
  readonly owner: OwnerId;
}

export interface Pick {
  readonly id: JobId;
  readonly instance: InstanceId;
  readonly dispatch: Dispatch;
}

/** The stored answer: status, the headers that go back, and the exact bytes. */
export interface Result {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface AttemptEnd {
  readonly firstByteAtMs: number | null;
  readonly outcome: string;
  readonly detail: string | null;
  /** Stored at the job's end; absent or null: not all of them were seen. */
  readonly wentFirst?: WentFirst | null;
}

export type Finish =
  | { readonly kind: "succeeded"; readonly result: Result }
  /** `result` holds an engine's refusal (4xx), kept byte for byte; null when the failure is ours to word. */
  | { readonly kind: "failed"; readonly error: JobError; readonly result: Result | null };

export type End = { readonly noticed?: Noticed } & (
  | { readonly type: "cancel"; readonly reason: CancelReason }
  | { readonly type: "expire" }
  | { readonly type: "fail"; readonly error: JobError }
);

export interface Requeue {
  readonly charge: "attempt" | "interruption" | "none";
  /** From now; 0: at once. */
  readonly delayMs: number;
}

export interface Ended {
  /** As it is now, also when nothing was changed. */
  readonly job: Job;
  /** False: it was final already. */
  readonly changed: boolean;
  /** The status it had before. */
  readonly before: JobStatus;
}

export interface Recovery {
  readonly requeued: number;
  /** Interrupted too often: failed with `poison`. */
  readonly poisoned: number;
  /** Plain synchronous requests, whose sockets died with their router: cancelled with `disconnect`. */
  readonly dropped: number;
}

export interface Attempt {
  readonly epoch: number;
  readonly attempt: number;
  readonly instance: InstanceId;
  readonly owner: OwnerId;
  readonly startedAtMs: number;
  readonly firstByteAtMs: number | null;
  readonly endedAtMs: number | null;
  /** `succeeded`, `refused`, `failed`, `busy`, `lost`, `aborted`, `interrupted`, `cancelled`; null while it runs. */
  readonly outcome: string | null;
  readonly detail: string | null;
  /** Its job was not to be started again before this; null: it was not sent back to the queue, or at once. */
  readonly runAfterMs: number | null;
}

export interface JobQuery {
  readonly caller: CallerId | null;
  readonly status?: readonly JobStatus[];
  readonly model?: ModelName;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly after?: JobId;
  readonly order: "newest" | "oldest";
  readonly limit: number;
}

export interface DecisionQuery {
  /** Both: older than that one; `before` need not exist. */
  readonly after?: DecisionId;
  readonly before?: DecisionId;
  readonly model?: ModelName;
  readonly job?: JobId;
  readonly kinds?: readonly DecisionKind[];
  readonly reason?: DecisionReason;
  readonly device?: DeviceId;
  readonly limit: number;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly hasMore: boolean;
}

export interface DecisionPage extends Page<Decision> {
  /** Where the next page begins, also where so many were looked at that a page ends before it is full; null: nowhere. */
  readonly last: DecisionId | null;
}

export interface Usage {
  readonly storedBytes: number;
  readonly walBytes: number;
  readonly jobs: number;
}

/** One event of a job's life. `cursor` is opaque: only the store compares it. */
export interface StoredEvent {
  readonly cursor: string;
  readonly atMs: number;
  readonly job: JobId;
  readonly type: "queued" | "started" | "requeued" | "completed" | "failed" | "cancelled" | "expired";
}

export interface Store {
  readonly files: FileVerbs;
  readonly hints: HintVerbs;
  readonly batches: BatchVerbs;
  readonly deliveries: DeliveryVerbs;
  readonly timeline: TimelineVerbs;
  /** The list of jobs as operators filter it. */
  readonly rows: JobRowVerbs;

  /**
   * Job, body, idempotency row and first event, all or none; resolves after COMMIT.
   * A key whose job ended by a lapsed lease or a closed socket starts anew. The body's bytes are the store's from here
   * on: large ones leave an empty buffer behind.
   */
  add(job: NewJob): Promise<Added>;
  /**
   * A plain synchronous request: stamped and returned at once, since only this process serves it; its row follows in the
   * next group commit, without its body. `recorded` rejects when that failed.
   */
  addVolatile(job: NewJob): { readonly job: Job; readonly recorded: Promise<void> };

  /**
   * Makes a plain synchronous request durable: its body is stored, and its answer will be. Resolves after COMMIT; null when
   * the job is over, its epoch is another, or there is no room, and nothing changed. The body's bytes are copied.
   */
  keep(keep: Keep): Promise<Job | null>;

  /** Queued to running for each pick, epoch+1, attempts+1; null where the job was no longer queued. One transaction. */
  claim(authority: Authority, picks: readonly Pick[]): Promise<readonly (Job | null)[]>;
  /** Running to its end with its answer, in one transaction; null when the fence did not match, and nothing changed. */
  finish(fence: Fence, finish: Finish, attempt: AttemptEnd): Promise<Job | null>;
  /** Running to queued, epoch+1; `interruption` gives the attempt back. Null when the fence did not match. */
  requeue(fence: Fence, requeue: Requeue, attempt: AttemptEnd): Promise<Job | null>;
  /** Queued or running to a final state, epoch+1. Null: no such job. */
  end(id: JobId, end: End): Promise<Ended | null>;
  /** Removes body and answer of a final job now; its row stays as a tombstone. */
  purge(id: JobId): Promise<Job | null>;
  /** Notes the first complete read of the answer; lazily written. */
  markRead(id: JobId): void;
  /** Notes polls, lazily written: display, and the guard against crash loops. */
  notePolls(ids: readonly JobId[]): void;
  append(entries: readonly LogEntry[]): void;
  /** What was recorded of traffic, for running it again. */
  readonly history: History;
  /** What it says about one model, for explanations. */
  readonly about: ModelLog;

  job(id: JobId): Promise<Job | null>;
  /** The job of this caller that holds the idempotency key; null: none does. */
  keyed(caller: CallerId, key: string): Promise<Job | null>;
  body(id: JobId): Promise<Body | null>;
  result(id: JobId): Promise<Result | null>;
  /** Kept synchronous requests (`keep`) of this caller with this `repeat`, newest first, a few at most. */
  repeats(caller: CallerId, repeat: Uint8Array): Promise<readonly Job[]>;
  jobs(query: JobQuery): Promise<Page<Job>>;
  decision(id: DecisionId): Promise<Decision | null>;
  /** Newest first; with `after`, older than it. */
  decisions(query: DecisionQuery): Promise<DecisionPage>;
  /** Stretches of `model` that touch [fromMs, toMs], oldest first. */
  waits(model: ModelName, fromMs: number, toMs: number): Promise<readonly Wait[]>;
  attempts(id: JobId): Promise<readonly Attempt[]>;
  /** The last `limit` finished loads of each model, newest first. */
  loads(limit: number): Promise<readonly LoadRecord[]>;
  eventsAfter(job: JobId, cursor: string | null, limit: number): Promise<readonly StoredEvent[]>;
  /** Intervals in which no router held the store, oldest first. */
  downtimes(fromMs: number, toMs: number): Promise<readonly { fromMs: number; toMs: number }[]>;

  /** Owners of running rows that are provably dead. */
  deadOwners(): Promise<readonly OwnerId[]>;
  /** Gives back what dead owners were running. One transaction. */
  recover(authority: Authority, dead: readonly OwnerId[], maxInterruptions: number): Promise<Recovery>;
  /** Queued jobs in pages, in the order of acceptance; `after` null for the first page. */
  live(after: JobId | null, limit: number): Promise<readonly Job[]>;
  /** Recomputes the rank of every queued job: the key that `ranking` gives it. */
  rerank(ranking: Ranking): Promise<void>;
  /** Removes what has outlived its time, in small batches; returns whether more is left. */
  prune(): Promise<boolean>;
  /** Checkpoint, WAL bound, heart-beat, inode check. Called each 10 s or so. */
  maintain(): Promise<void>;
  /** Can it commit? Rejects with `StoreError` when not. Whatever was appended before can be read then. */
  ping(): Promise<void>;
  usage(): Promise<Usage>;
  /** A consistent copy at `path`, made by the writer itself. */
  backup(path: string): Promise<void>;
  /** Flushes everything, marks a clean stop, truncates the WAL. Idempotent. */
  close(): Promise<void>;
}
