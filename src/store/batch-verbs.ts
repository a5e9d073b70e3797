// What the store keeps of batches: the batch, an index of its lines, and which of them have become jobs. A line becomes a
// job once, in one transaction with the note that it has; so a batch that is fed again after a crash loses none and
// repeats none.

import type { Batch, BatchFault } from "../domain/batch.ts";
import type { BatchId, CallerId, FileId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { NewFile } from "./file-verbs.ts";
import type { NewJob, Page } from "./store.ts";

export interface NewBatch {
  readonly id: BatchId;
  readonly caller: CallerId;
  readonly endpoint: string;
  readonly inputFile: FileId;
  readonly completionWindow: string;
  readonly windowMs: number;
  readonly outputTtlMs: number | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A valid line, found again by its place in the input file. */
export interface BatchLine {
  /** From 1. */
  readonly line: number;
  /** As it is configured; as the line says where no such model is. */
  readonly model: string;
  readonly customId: string;
  readonly bodyStart: number;
  readonly bodySize: number;
  /** Inside the body. */
  readonly modelSpan: readonly [start: number, end: number];
  readonly sha256: Uint8Array;
}

export interface FedLine {
  readonly line: number;
  readonly job: NewJob;
}

/** `stopped`: the batch is not in progress any more. */
export type Fed = readonly Job[] | "stopped" | "storage_full";

/** A line and what became of it; `job` null: it never was one. */
export interface LineOutcome {
  readonly line: number;
  readonly customId: string;
  readonly job: Job | null;
}

export interface BatchClosing {
  readonly status: "completed" | "expired" | "cancelled";
  readonly completed: number;
  readonly failed: number;
  /** Null: no line came out that way. */
  readonly output: NewFile | null;
  readonly errors: NewFile | null;
}

export interface BatchQuery {
  readonly caller: CallerId;
  readonly after?: BatchId;
  readonly limit: number;
}

export interface BatchVerbs {
  /** `file_not_found`: the caller has no such file. `too_many`: so many are not final yet. */
  add(batch: NewBatch, maxOpen: number): Promise<Batch | "file_not_found" | "too_many">;
  get(caller: CallerId, id: BatchId): Promise<Batch | null>;
  /** Newest first. */
  list(query: BatchQuery): Promise<Page<Batch>>;
  /** Every batch that is not final, oldest first. */
  open(): Promise<readonly Batch[]>;

  /** Notes valid lines; the same lines again change nothing. False: it is not being validated any more. */
  index(id: BatchId, lines: readonly BatchLine[]): Promise<boolean>;
  /** Validating to in progress. Every change of status answers with null when it no longer applied. */
  begin(id: BatchId, total: number): Promise<Batch | null>;
  /** Validating to failed. */
  fail(id: BatchId, faults: readonly BatchFault[]): Promise<Batch | null>;
  /** Validating or in progress to cancelling; a batch that is further on stays as it is. Null: no such batch. */
  cancel(caller: CallerId, id: BatchId): Promise<Batch | null>;
  /** In progress to finalizing; from there only `close` leads on. */
  finalize(id: BatchId): Promise<Batch | null>;
  /** To its end, with its files, in one transaction; its lines and answers go afterwards. */
  close(id: BatchId, closing: BatchClosing): Promise<Batch | null>;

  /** How many lines wait to be queued, by model. */
  waiting(id: BatchId): Promise<ReadonlyMap<string, number>>;
  /** The model's next waiting lines, in the order of the file. */
  next(id: BatchId, model: string, limit: number): Promise<readonly BatchLine[]>;
  /** Lines become jobs; one that is a job already is left out. One transaction. */
  feed(id: BatchId, lines: readonly FedLine[]): Promise<Fed>;
  /** Its jobs that are not final. */
  liveJobs(id: BatchId): Promise<readonly Job[]>;
  /** In the order of the file, after a line. */
  outcomes(id: BatchId, after: number, limit: number): Promise<readonly LineOutcome[]>;
}
