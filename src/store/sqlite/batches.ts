// The life of a batch as transactions: each change of status names the status it starts from, so that of two that race
// only one happens.

import type { Database } from "better-sqlite3";
import type { Batch, BatchFault, BatchStatus } from "../../domain/batch.ts";
import type { BatchId, CallerId } from "../../domain/ids.ts";
import type { BatchClosing, NewBatch } from "../batch-verbs.ts";
import { type BatchRow, toBatch } from "./batch-rows.ts";
import type { Announcer } from "./deliveries.ts";
import type { FileKeeper } from "./files.ts";
import type { Stamp } from "./job-row.ts";
import { PURGE_BATCH, type Purger } from "./purger.ts";

/** How long a final batch can be looked up. */
const KEEP_MS = 30 * 86_400_000;

const INSERT = `
  INSERT INTO batches (id, caller, endpoint, input_file, input_location, completion_window, status, metadata,
    output_ttl_ms, created_ms, deadline_ms, walls)
  VALUES (?, ?, ?, ?, ?, ?, 'validating', ?, ?, ?, ?, ?) RETURNING *`;
const INPUT = `
  SELECT location FROM files WHERE id = ? AND caller = ? AND deleted = 0 AND coalesce(expires_ms, 9e18) > ?`;
export const OPEN_OF_CALLER =
  "SELECT count(*) FROM batches INDEXED BY batches_open WHERE ended_ms IS NULL AND caller = ?";
const MOVE = `
  UPDATE batches SET status = @to, walls = json_set(walls, '$.' || @to, @wallMs), ended_ms = @endedMs
  WHERE id = @id AND status IN (SELECT value FROM json_each(@from)) RETURNING *`;
const CLOSE = `
  UPDATE batches SET completed = ?, failed = ?, output_file = ?, error_file = ? WHERE seq = ? RETURNING *`;
export const UNSWEPT = `
  SELECT seq FROM batches INDEXED BY batches_unswept WHERE ended_ms IS NOT NULL AND swept = 0 ORDER BY seq LIMIT 1`;
const OLD =
  "DELETE FROM batches WHERE seq IN (SELECT seq FROM batches INDEXED BY batches_ended WHERE ended_ms IS NOT NULL AND ended_ms <= ? AND swept = 1 LIMIT ?)";

export interface Batching {
  addBatch(at: Stamp, batch: NewBatch, maxOpen: number): Batch | "file_not_found" | "too_many";
  beginBatch(at: Stamp, id: BatchId, total: number): Batch | null;
  failBatch(at: Stamp, id: BatchId, faults: readonly BatchFault[]): Batch | null;
  cancelBatch(at: Stamp, caller: CallerId, id: BatchId): Batch | null;
  finalizeBatch(at: Stamp, id: BatchId): Batch | null;
  closeBatch(at: Stamp, id: BatchId, closing: BatchClosing): Batch | null;
}

export interface BatchSweeper {
  /** Removes lines and answers of final batches, and batches that were final long ago; returns how many rows. */
  sweep(at: Stamp): number;
}

export function createBatching(
  db: Database,
  purger: Purger,
  files: FileKeeper,
  announcer: Announcer,
): { readonly verbs: Batching; readonly sweeper: BatchSweeper } {
  const insert = db.prepare<unknown[], BatchRow>(INSERT);
  const input = db.prepare<[string, string, number], string>(INPUT).pluck();
  const openOf = db.prepare<[string], number>(OPEN_OF_CALLER).pluck();
  const byId = db.prepare<[string], BatchRow>("SELECT * FROM batches WHERE id = ?");
  const moveRow = db.prepare<[object], BatchRow>(MOVE);
  const setTotal = db.prepare<[number, number], BatchRow>("UPDATE batches SET total = ? WHERE seq = ? RETURNING *");
  const setErrors = db.prepare<[string, number], BatchRow>("UPDATE batches SET errors = ? WHERE seq = ? RETURNING *");
  const closeRow = db.prepare<unknown[], BatchRow>(CLOSE);

  const move = (
    at: Stamp,
    id: BatchId,
    from: readonly BatchStatus[],
    to: BatchStatus,
    ends = false,
  ): BatchRow | null => {
    const endedMs = ends ? at.atMs : null;
    const wallMs = Math.floor(at.wallMs);
    const row = moveRow.get({ id, from: JSON.stringify(from), to, wallMs, endedMs }) ?? null;
    if (row !== null && ends) announcer.announce(at, `batch.${to}`, `evt_${id.slice("batch_".length)}`, id);
    return row;
  };
  const asBatch = (row: BatchRow | null | undefined): Batch | null => (row == null ? null : toBatch(row));

  const verbs: Batching = {
    addBatch(at, batch, maxOpen) {
      const { id, caller, endpoint, inputFile, completionWindow, windowMs, outputTtlMs, metadata } = batch;
      const location = input.get(inputFile, caller, at.atMs);
      if (location === undefined) return "file_not_found";
      if ((openOf.get(caller) ?? 0) >= maxOpen) return "too_many";
      const walls = JSON.stringify({ validating: Math.floor(at.wallMs) });
      const values = [id, caller, endpoint, inputFile, location, completionWindow, JSON.stringify(metadata)];
      const row = insert.get(...values, outputTtlMs, at.atMs, at.atMs + windowMs, walls);
      if (row === undefined) throw new Error("a batch that was inserted has no row");
      return toBatch(row);
    },
    beginBatch(at, id, total) {
      const row = move(at, id, ["validating"], "in_progress");
      return row === null ? null : asBatch(setTotal.get(total, row.seq));
    },
    failBatch(at, id, faults) {
      const row = move(at, id, ["validating"], "failed", true);
      return row === null ? null : asBatch(setErrors.get(JSON.stringify(faults), row.seq));
    },
    cancelBatch(at, caller, id) {
      const found = byId.get(id);
      if (found === undefined || found.caller !== caller) return null;
      return toBatch(move(at, id, ["validating", "in_progress"], "cancelling") ?? found);
    },
    finalizeBatch: (at, id) => asBatch(move(at, id, ["in_progress"], "finalizing")),
    closeBatch(at, id, { status, completed, failed, output, errors }) {
      const from: BatchStatus = status === "cancelled" ? "cancelling" : "finalizing";
      const row = move(at, id, [from], status, true);
      if (row === null) return null;
      // The answers they are made of go next, so only what was read is asked to make room.
      purger.makeRoom(at.atMs, (output?.sizeBytes ?? 0) + (errors?.sizeBytes ?? 0));
      for (const file of [output, errors]) if (file !== null) files.insert(at, file);
      return asBatch(closeRow.get(completed, failed, output?.id ?? null, errors?.id ?? null, row.seq));
    },
  };
  return { verbs, sweeper: createSweeper(db, purger) };
}

function createSweeper(db: Database, purger: Purger): BatchSweeper {
  const unswept = db.prepare<[], number>(UNSWEPT).pluck();
  const lines = db.prepare<[number, number], { line: number; job: number | null }>(
    "SELECT line, job FROM batch_lines WHERE batch = ? ORDER BY line LIMIT ?",
  );
  const dropLine = db.prepare("DELETE FROM batch_lines WHERE batch = ? AND line = ?");
  const swept = db.prepare("UPDATE batches SET swept = 1 WHERE seq = ?");
  const dropOld = db.prepare(OLD);
  return {
    sweep(at) {
      const seq = unswept.get();
      if (seq === undefined) return dropOld.run(at.atMs - KEEP_MS, PURGE_BATCH).changes;
      const page = lines.all(seq, PURGE_BATCH);
      for (const { line, job } of page) {
        if (job !== null) purger.purge(job, at.atMs);
        dropLine.run(seq, line);
      }
      if (page.length < PURGE_BATCH) swept.run(seq);
      // A full page asks for another turn, and so does another batch that waits for its own.
      return PURGE_BATCH;
    },
  };
}
