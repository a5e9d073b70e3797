// Batches as the rest of the program has them: reads here, writes by way of the outbox.

import type { Database } from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";
import type { Job } from "../../domain/job.ts";
import type { Ranking } from "../../domain/ranking.ts";
import type { BatchQuery, BatchVerbs, Fed, FedLine, LineOutcome } from "../batch-verbs.ts";
import { arrivalOf } from "./accept.ts";
import { type BatchRow, type LineRow, toBatch, toLine } from "./batch-rows.ts";
import { acceptedJob, toJob } from "./job-row.ts";
import type { Outbox } from "./outbox.ts";
import type { JobRow } from "./schema.ts";

export const OPEN_BATCHES = "SELECT * FROM batches INDEXED BY batches_open WHERE ended_ms IS NULL";
export const WAITING_LINES = `
  SELECT model, count(*) AS lines FROM batch_lines INDEXED BY batch_lines_waiting
  WHERE batch = (SELECT seq FROM batches WHERE id = ?) AND job IS NULL GROUP BY model`;
export const NEXT_LINES = `
  SELECT * FROM batch_lines INDEXED BY batch_lines_waiting
  WHERE batch = (SELECT seq FROM batches WHERE id = ?) AND model = ? AND job IS NULL ORDER BY line LIMIT ?`;
export const LIVE_OF_BATCH = `
  SELECT * FROM jobs INDEXED BY jobs_of_batch
  WHERE batch = (SELECT seq FROM batches WHERE id = ?) AND batch IS NOT NULL AND status < 2`;
export const OUTCOMES = `
  SELECT l.line AS batch_line, l.custom_id, j.* FROM batch_lines AS l LEFT JOIN jobs AS j ON j.seq = l.job
  WHERE l.batch = (SELECT seq FROM batches WHERE id = ?) AND l.line > ? ORDER BY l.line LIMIT ?`;

type OutcomeRow = Omit<JobRow, "id"> & { id: string | null; batch_line: number; custom_id: string };

export interface BatchParts {
  readonly reader: Database;
  readonly outbox: Outbox;
  readonly owner: OwnerId;
  rankedBy(): Ranking;
  read<Value>(act: () => Value): Promise<Value>;
}

export function createBatchVerbs({ reader: db, outbox, owner, rankedBy, read }: BatchParts): BatchVerbs {
  const get = db.prepare<[string, string], BatchRow>("SELECT * FROM batches WHERE id = ? AND caller = ?");
  const open = db.prepare<[], BatchRow>(OPEN_BATCHES);
  const waiting = db.prepare<[string], { model: string; lines: number }>(WAITING_LINES);
  const next = db.prepare<[string, string, number], LineRow>(NEXT_LINES);
  const live = db.prepare<[string], JobRow>(LIVE_OF_BATCH);
  const outcomes = db.prepare<[string, number, number], OutcomeRow>(OUTCOMES);

  const feed = async (id: Parameters<BatchVerbs["feed"]>[0], lines: readonly FedLine[]): Promise<Fed> => {
    const at = outbox.stamp();
    const jobs = new Map<number, Job>();
    const arriving = lines.map(({ line, job }) => {
      const made = acceptedJob(job, at, rankedBy(), true);
      jobs.set(line, made);
      return [line, arrivalOf(made, job, owner)] as const;
    });
    const taken = await outbox.call("feedLines", [id, arriving], { at });
    return typeof taken === "string" ? taken : taken.flatMap((line) => jobs.get(line) ?? []);
  };

  return {
    add: (batch, maxOpen) => outbox.call("addBatch", [batch, maxOpen]),
    get: (caller, id) =>
      read(() => {
        const row = get.get(id, caller);
        return row === undefined ? null : toBatch(row);
      }),
    list: (query) => read(() => listOf(db, query)),
    open: () =>
      read(() =>
        open
          .all()
          .sort((a, b) => a.seq - b.seq)
          .map(toBatch),
      ),
    index: (id, lines) => outbox.call("indexLines", [id, lines]),
    begin: (id, total) => outbox.call("beginBatch", [id, total]),
    fail: (id, faults) => outbox.call("failBatch", [id, faults]),
    cancel: (caller, id) => outbox.call("cancelBatch", [caller, id]),
    finalize: (id) => outbox.call("finalizeBatch", [id]),
    close: (id, closing) => outbox.call("closeBatch", [id, closing]),
    waiting: (id) => read(() => new Map(waiting.all(id).map(({ model, lines }) => [model, lines]))),
    next: (id, model, limit) => read(() => next.all(id, model, limit).map(toLine)),
    feed,
    liveJobs: (id) => read(() => live.all(id).map(toJob)),
    outcomes: (id, after, limit) => read(() => outcomes.all(id, after, limit).map(toOutcome)),
  };
}

export function listBatchesSql(after: boolean): string {
  return `SELECT * FROM batches INDEXED BY batches_by_caller
    WHERE caller = @caller ${after ? "AND id < @after" : ""} ORDER BY id DESC LIMIT @rows`;
}

function listOf(db: Database, { caller, after, limit }: BatchQuery) {
  const statement = db.prepare<[object], BatchRow>(listBatchesSql(after !== undefined));
  const rows = statement.all({ caller, rows: limit + 1, ...(after === undefined ? {} : { after }) });
  return { data: rows.slice(0, limit).map(toBatch), hasMore: rows.length > limit };
}

function toOutcome({ batch_line, custom_id, id, ...row }: OutcomeRow): LineOutcome {
  return { line: batch_line, customId: custom_id, job: id === null ? null : toJob({ ...row, id }) };
}
