// Ends that need no claim: cancel, expiry and failure by the router's own word, and removal of an answer on request.

import type { Database } from "better-sqlite3";
import type { JobId } from "../../domain/ids.ts";
import { isFinal, type Job, type JobStatus } from "../../domain/job.ts";
import type { End, Ended } from "../store.ts";
import type { CoreSettings } from "./core.ts";
import { CANCELLED, EXPIRED, FAILED, RUNNING, STATUSES, type Stamp, toJob } from "./job-row.ts";
import type { Purger } from "./purger.ts";
import type { OnEnd } from "./running.ts";
import type { JobRow } from "./schema.ts";

export const END = `
  UPDATE jobs SET status = ?, epoch = epoch + 1, finished_ms = ?, owner = NULL, instance = NULL, cancel_reason = ?,
    error_code = ?, error_message = ?, purge_after_ms = CASE WHEN batch IS NULL THEN ? ELSE NULL END,
    purged_ms = CASE durable WHEN 1 THEN NULL ELSE ? END,
    evictable_ms = CASE WHEN durable = 1 AND batch IS NULL THEN ? ELSE NULL END
  WHERE seq = ? AND status IN (0, 1) RETURNING *`;
const END_ATTEMPT = `
  UPDATE attempts SET first_byte_ms = ?, ended_ms = ?, outcome = ?, detail = ? WHERE job = ? AND epoch = ? AND ended_ms IS NULL`;
const INSERT_EVENT = "INSERT INTO job_events (job, n, at_ms, type) VALUES (?, ?, ?, ?)";
const BY_ID = "SELECT * FROM jobs WHERE id = ?";

export interface Ending {
  end(at: Stamp, id: JobId, end: End): Ended | null;
  purge(at: Stamp, id: JobId): Job | null;
  /** Ends a live row, whoever owns it. */
  endRow(at: Stamp, row: JobRow, end: End): Job;
}

export function createEnding(db: Database, settings: CoreSettings, purger: Purger, onEnd: OnEnd): Ending {
  const byId = db.prepare<[string], JobRow>(BY_ID);
  const update = db.prepare<unknown[], JobRow>(END);
  const endAttempt = db.prepare(END_ATTEMPT);
  const insertEvent = db.prepare(INSERT_EVENT);

  const endRow = (at: Stamp, row: JobRow, wish: End): Job => {
    const end = settle(row, wish);
    const purgeAfterMs = at.atMs + settings.resultTtlMs;
    const ended = update.get(
      end.status,
      at.atMs,
      end.reason,
      end.code,
      end.message,
      purgeAfterMs,
      at.atMs,
      at.atMs,
      row.seq,
    );
    if (ended === undefined) throw new Error("a job that was live cannot be ended");
    const { firstByteAtMs = null, wentFirst = null } = wish.noticed ?? {};
    if (row.status === RUNNING) {
      endAttempt.run(firstByteAtMs, at.atMs, end.outcome, end.reason ?? end.message, row.seq, row.epoch);
    }
    onEnd(at, ended, null, wentFirst);
    insertEvent.run(row.seq, ended.epoch * 2, at.atMs, STATUSES[end.status]);
    return toJob(ended);
  };

  return {
    endRow,
    end(at, id, end) {
      const row = byId.get(id);
      if (row === undefined) return null;
      const before = STATUSES[row.status] as JobStatus;
      if (isFinal(before)) return { job: toJob(row), changed: false, before };
      return { job: endRow(at, row, end), changed: true, before };
    },
    purge(at, id) {
      const row = byId.get(id);
      if (row === undefined) return null;
      if (row.status <= RUNNING || row.purged_ms !== null) return toJob(row);
      purger.purge(row.seq, at.atMs);
      return toJob({ ...row, purged_ms: at.atMs, evictable_ms: null });
    },
  };
}

interface Settled {
  readonly status: number;
  readonly reason: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly outcome: string;
}

/** A deadline that passes just after the job was claimed cancels it: only a job that never started can expire. */
function settle(row: JobRow, end: End): Settled {
  if (end.type === "fail") {
    return { status: FAILED, reason: null, code: end.error.code, message: end.error.message, outcome: "failed" };
  }
  if (end.type === "expire" && row.status !== RUNNING) {
    return { status: EXPIRED, reason: null, code: null, message: null, outcome: "cancelled" };
  }
  const reason = end.type === "expire" ? "deadline" : end.reason;
  return { status: CANCELLED, reason, code: null, message: null, outcome: "cancelled" };
}
