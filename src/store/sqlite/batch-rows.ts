// Rows of batches and their lines, and what they stand for.

import type { Batch, BatchFault, BatchStatus } from "../../domain/batch.ts";
import type { BatchId, CallerId, FileId } from "../../domain/ids.ts";
import type { BatchLine } from "../batch-verbs.ts";

export interface BatchRow {
  seq: number;
  id: string;
  caller: string;
  endpoint: string;
  input_file: string;
  input_location: string;
  completion_window: string;
  status: string;
  metadata: string;
  output_ttl_ms: number | null;
  created_ms: number;
  deadline_ms: number;
  ended_ms: number | null;
  walls: string;
  errors: string | null;
  total: number;
  completed: number;
  failed: number;
  output_file: string | null;
  error_file: string | null;
  swept: number;
}

export interface LineRow {
  line: number;
  model: string;
  custom_id: string;
  body_start: number;
  body_size: number;
  span_start: number;
  span_end: number;
  sha256: Buffer;
}

export function toBatch(row: BatchRow): Batch {
  return {
    id: row.id as BatchId,
    caller: row.caller as CallerId,
    endpoint: row.endpoint,
    inputFile: row.input_file as FileId,
    inputUri: row.input_location,
    completionWindow: row.completion_window,
    status: row.status as BatchStatus,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    outputTtlMs: row.output_ttl_ms,
    createdMs: row.created_ms,
    deadlineMs: row.deadline_ms,
    walls: JSON.parse(row.walls) as Batch["walls"],
    faults: row.errors === null ? null : (JSON.parse(row.errors) as BatchFault[]),
    total: row.total,
    completed: row.completed,
    failed: row.failed,
    outputFile: row.output_file as FileId | null,
    errorFile: row.error_file as FileId | null,
  };
}

export function toLine(row: LineRow): BatchLine {
  return {
    line: row.line,
    model: row.model,
    customId: row.custom_id,
    bodyStart: row.body_start,
    bodySize: row.body_size,
    modelSpan: [row.span_start, row.span_end],
    sha256: row.sha256,
  };
}
