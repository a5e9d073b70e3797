// The life of a claim: queued to running, and from there to its end or back. Every statement of an owner names state,
// epoch and owner, so that whoever lost its claim can change nothing.

import type { Database } from "better-sqlite3";
import type { Job, WentFirst } from "../../domain/job.ts";
import type { AttemptEnd, Authority, Fence, Finish, Pick, Requeue, Result } from "../store.ts";
import type { CoreSettings } from "./core.ts";
import { FAILED, QUEUED, type Stamp, SUCCEEDED, toJob } from "./job-row.ts";
import type { Ledger } from "./ledger.ts";
import type { JobRow } from "./schema.ts";

export const CLAIM = `
  UPDATE jobs SET status = 1, epoch = epoch + 1, attempts = attempts + 1, owner = ?, instance = ?, started_ms = ?,
    decision = ?, score = ?, queue_wait_ms = ?, reorder = ?
  WHERE id = ? AND status = 0 AND pool = ? RETURNING *`;
const INSERT_ATTEMPT = `
  INSERT INTO attempts (job, epoch, attempt, instance, owner, started_ms) VALUES (?, ?, ?, ?, ?, ?)`;
export const FINISH = `
  UPDATE jobs SET status = ?, finished_ms = ?, owner = NULL, instance = NULL, error_code = ?, error_message = ?,
    purge_after_ms = CASE WHEN batch IS NULL THEN ? ELSE NULL END, purged_ms = CASE durable WHEN 1 THEN NULL ELSE ? END,
    evictable_ms = CASE WHEN durable = 1 AND batch IS NULL THEN ? ELSE NULL END
  WHERE id = ? AND status = 1 AND epoch = ? AND owner = ? RETURNING *`;
const INSERT_RESULT = `
  INSERT INTO results (job, epoch, status, headers, size, stored_ms, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)`;
export const REQUEUE = `
  UPDATE jobs SET status = 0, epoch = epoch + 1, owner = NULL, instance = NULL, started_ms = NULL, run_after_ms = ?,
    attempts = attempts - ?, interruptions = interruptions + ?
  WHERE id = ? AND status = 1 AND epoch = ? AND owner = ? RETURNING *`;
const END_ATTEMPT = `
  UPDATE attempts SET first_byte_ms = ?, ended_ms = ?, outcome = ?, detail = ?, run_after_ms = ? WHERE job = ? AND epoch = ?`;
const INSERT_EVENT = "INSERT INTO job_events (job, n, at_ms, type) VALUES (?, ?, ?, ?)";

/** Told of each job that has just become final, in the transaction that ends it. */
export type OnEnd = (at: Stamp, row: JobRow, result: Result | null, wentFirst: WentFirst | null) => void;

export interface Running {
  claim(at: Stamp, authority: Authority, picks: readonly Pick[]): (Job | null)[];
  finish(at: Stamp, fence: Fence, finish: Finish, attempt: AttemptEnd): Job | null;
  requeue(at: Stamp, fence: Fence, requeue: Requeue, attempt: AttemptEnd): Job | null;
}

export function createRunning(db: Database, settings: CoreSettings, ledger: Ledger, onEnd: OnEnd): Running {
  const claim = db.prepare<unknown[], JobRow>(CLAIM);
  const insertAttempt = db.prepare(INSERT_ATTEMPT);
  const finish = db.prepare<unknown[], JobRow>(FINISH);
  const insertResult = db.prepare(INSERT_RESULT);
  const requeue = db.prepare<unknown[], JobRow>(REQUEUE);
  const endAttempt = db.prepare(END_ATTEMPT);
  const insertEvent = db.prepare(INSERT_EVENT);

  const claimOne = (at: Stamp, authority: Authority, pick: Pick): Job | null => {
    const { decision, score, queueWaitMs, reorder } = pick.dispatch;
    const { owner, pool } = authority;
    const row = claim.get(owner, pick.instance, at.atMs, decision, score, queueWaitMs, reorder, pick.id, pool);
    if (row === undefined) return null;
    insertAttempt.run(row.seq, row.epoch, row.attempts, pick.instance, owner, at.atMs);
    insertEvent.run(row.seq, row.epoch * 2, at.atMs, "started");
    return toJob(row);
  };
  const close = (row: JobRow, epoch: number, at: Stamp, end: AttemptEnd, event: string): void => {
    const runAfterMs = row.status === QUEUED && row.run_after_ms > 0 ? row.run_after_ms : null;
    endAttempt.run(end.firstByteAtMs, at.atMs, end.outcome, end.detail, runAfterMs, row.seq, epoch);
    insertEvent.run(row.seq, row.epoch * 2 + (row.epoch === epoch ? 1 : 0), at.atMs, event);
  };
  const keep = (row: JobRow, at: Stamp, result: Result): void => {
    const { status, headers, body } = result;
    insertResult.run(row.seq, row.epoch, status, JSON.stringify(headers), body.byteLength, at.atMs, body);
    ledger.bytesBy(body.byteLength);
  };

  return {
    claim: (at, authority, picks) => picks.map((pick) => claimOne(at, authority, pick)),
    finish(at, fence, end, attempt) {
      const error = end.kind === "failed" ? end.error : null;
      const row = finish.get(
        end.kind === "succeeded" ? SUCCEEDED : FAILED,
        at.atMs,
        error?.code ?? null,
        error?.message ?? null,
        at.atMs + settings.resultTtlMs,
        at.atMs,
        end.result === null ? at.atMs : null,
        fence.id,
        fence.epoch,
        fence.owner,
      );
      if (row === undefined) return null;
      if (row.durable === 1 && end.result !== null) keep(row, at, end.result);
      onEnd(at, row, end.result, attempt.wentFirst ?? null);
      close(row, fence.epoch, at, attempt, end.kind === "succeeded" ? "completed" : "failed");
      return toJob(row);
    },
    requeue(at, fence, { charge, delayMs }, attempt) {
      const row = requeue.get(
        delayMs > 0 ? at.atMs + delayMs : 0,
        charge === "attempt" ? 0 : 1,
        charge === "interruption" ? 1 : 0,
        fence.id,
        fence.epoch,
        fence.owner,
      );
      if (row === undefined) return null;
      close(row, fence.epoch, at, attempt, "requeued");
      return toJob(row);
    },
  };
}
