// A batch: many requests in one file, run as jobs in the batch band under one deadline.
//
//   validating ─► in_progress ─► finalizing ─► completed | expired
//       │  └────────────┴─► cancelling ─► cancelled
//       └─► failed                                          (what its window cut off is in the error file)

import type { BatchId, CallerId, FileId } from "./ids.ts";

export const BATCH_STATUSES = [
  "validating",
  "failed",
  "in_progress",
  "finalizing",
  "completed",
  "expired",
  "cancelling",
  "cancelled",
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** What is wrong with the input, and in which line of it (from 1). */
export interface BatchFault {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Null: it is about the file as a whole. */
  readonly line: number | null;
}

export interface Batch {
  readonly id: BatchId;
  readonly caller: CallerId;
  /** Of every line. */
  readonly endpoint: string;
  readonly inputFile: FileId;
  readonly inputUri: string;
  /** As the caller wrote it. */
  readonly completionWindow: string;
  readonly status: BatchStatus;
  readonly metadata: Readonly<Record<string, string>>;
  /** How long its output files are kept; null: as long as any other. */
  readonly outputTtlMs: number | null;
  readonly createdMs: number;
  /** Router time. */
  readonly deadlineMs: number;
  /** The wall clock at each status it has had, for show. */
  readonly walls: Readonly<Partial<Record<BatchStatus, number>>>;
  readonly faults: readonly BatchFault[] | null;
  readonly total: number;
  /** Lines answered with 2xx so far. */
  readonly completed: number;
  /** Lines that ended otherwise so far. */
  readonly failed: number;
  readonly outputFile: FileId | null;
  readonly errorFile: FileId | null;
}

export function isBatchFinal(status: BatchStatus): boolean {
  return status === "failed" || status === "completed" || status === "expired" || status === "cancelled";
}
