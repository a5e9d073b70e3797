// Lines of batches: indexed while the batch is validated, turned into jobs a few at a time, counted as they end.

import type { Database } from "better-sqlite3";
import type { BatchId } from "../../domain/ids.ts";
import type { BatchLine } from "../batch-verbs.ts";
import type { Accepting, Arrival } from "./accept.ts";
import { type Stamp, SUCCEEDED } from "./job-row.ts";
import type { JobRow } from "./schema.ts";

const INDEX_LINE = `
  INSERT INTO batch_lines (batch, line, model, custom_id, body_start, body_size, span_start, span_end, sha256)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const TAKE = "UPDATE batch_lines SET job = ? WHERE batch = ? AND line = ? AND job IS NULL";
const WAITS = "SELECT 1 FROM batch_lines WHERE batch = ? AND line = ? AND job IS NULL";
const MARK = "UPDATE jobs SET batch = ? WHERE id = ? RETURNING seq";
const SUCCESS = "UPDATE batches SET completed = completed + 1 WHERE seq = ?";
const FAILURE = "UPDATE batches SET failed = failed + 1 WHERE seq = ?";

/** A line with the job it is to become. */
export type ArrivingLine = readonly [line: number, job: Arrival];

export interface Lining {
  indexLines(at: Stamp, id: BatchId, lines: readonly BatchLine[]): boolean;
  /** The lines that became jobs. */
  feedLines(at: Stamp, id: BatchId, lines: readonly ArrivingLine[]): readonly number[] | "stopped" | "storage_full";
}

export function createLining(db: Database, accepting: Pick<Accepting, "add">): Lining {
  const inStatus = db.prepare<[string, string], number>("SELECT seq FROM batches WHERE id = ? AND status = ?").pluck();
  const indexLine = db.prepare(INDEX_LINE);
  const waits = db.prepare(WAITS);
  const take = db.prepare(TAKE);
  const mark = db.prepare<[number, string], number>(MARK).pluck();
  return {
    indexLines(_at, id, lines) {
      const batch = inStatus.get(id, "validating");
      if (batch === undefined) return false;
      for (const { line, model, customId, bodyStart, bodySize, modelSpan, sha256 } of lines) {
        indexLine.run(batch, line, model, customId, bodyStart, bodySize, modelSpan[0], modelSpan[1], sha256);
      }
      return true;
    },
    feedLines(at, id, lines) {
      const batch = inStatus.get(id, "in_progress");
      if (batch === undefined) return "stopped";
      const taken: number[] = [];
      for (const [line, arrival] of lines) {
        if (waits.get(batch, line) === undefined) continue;
        // What was fed before it stays fed.
        if (accepting.add(at, arrival) === "storage_full") return taken.length === 0 ? "storage_full" : taken;
        const job = mark.get(batch, String(arrival.job[0]));
        take.run(job, batch, line);
        taken.push(line);
      }
      return taken;
    },
  };
}

/** Counts a job's end for its batch, in the transaction of that end. */
export function createTally(db: Database): (row: JobRow) => void {
  const success = db.prepare(SUCCESS);
  const failure = db.prepare(FAILURE);
  return (row) => {
    if (row.batch !== null) (row.status === SUCCEEDED ? success : failure).run(row.batch);
  };
}
