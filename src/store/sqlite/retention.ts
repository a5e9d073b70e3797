// What is noted lazily about readers and pollers, and what goes when its time is over.

import type { Database } from "better-sqlite3";
import { type JobId, jobIdAt } from "../../domain/ids.ts";
import type { BatchSweeper } from "./batches.ts";
import type { CoreSettings } from "./core.ts";
import type { Announcer } from "./deliveries.ts";
import type { FileKeeper } from "./files.ts";
import { KEEP_PAST } from "./history.ts";
import type { Stamp } from "./job-row.ts";
import type { Ledger } from "./ledger.ts";
import { PURGE_BATCH, type Purger } from "./purger.ts";

/** A tombstone stays this long after its answer went; its idempotency key as long, so at least a day in all. */
export const TOMBSTONE_MS = 86_400_000;
/** Decisions, waits and boots serve explanations, which are asked for within days. */
export const LOG_KEEP_MS = 7 * 86_400_000;
/** Of what devices did, to the second; older days are kept to the minute. */
const FINE_KEEP_MS = 2 * 86_400_000;
/** What traffic was, for running it again. */
export const PAST_KEEP_MS = 30 * 86_400_000;
/** Loads teach durations, so they stay longer than what they once explained. */
export const LOADS_KEEP_MS = 90 * 86_400_000;

const MARK_READ = `
  UPDATE jobs SET read_ms = @atMs, evictable_ms = @atMs, purge_after_ms = min(purge_after_ms, @purgeAfterMs)
  WHERE id = @id AND status >= 2 AND read_ms IS NULL AND purged_ms IS NULL AND batch IS NULL`;
// A row whose stamp is younger than half a lease is left alone: at most two small writes for each lease.
const NOTE_POLL = `
  UPDATE jobs SET last_poll_ms = @atMs
  WHERE id = @id AND status < 2 AND last_poll_ms <= @atMs - coalesce(lease_ms, 60000) / 2`;
export const OLD_TOMBSTONES = `
  SELECT seq FROM jobs INDEXED BY jobs_tombstones WHERE purged_ms IS NOT NULL AND purged_ms <= ?
  ORDER BY purged_ms LIMIT ?`;
const OLD_LOGS: readonly (readonly [sql: string, keepMs: number])[] = [
  [
    `DELETE FROM waits WHERE seq IN
       (SELECT seq FROM waits INDEXED BY waits_closed WHERE to_ms IS NOT NULL AND to_ms <= ? LIMIT ?)`,
    LOG_KEEP_MS,
  ],
  [
    "DELETE FROM loads WHERE seq IN (SELECT seq FROM loads INDEXED BY loads_by_time WHERE ended_ms <= ? LIMIT ?)",
    LOADS_KEEP_MS,
  ],
  [oldSpans(0), FINE_KEEP_MS],
  [oldSpans(1), LOG_KEEP_MS],
  [
    `DELETE FROM minutes WHERE (model, at_ms, band) IN
       (SELECT model, at_ms, band FROM minutes INDEXED BY minutes_by_time WHERE at_ms <= ? LIMIT ?)`,
    LOG_KEEP_MS,
  ],
  ["DELETE FROM shadows WHERE seq IN (SELECT seq FROM shadows WHERE at_ms <= ? LIMIT ?)", LOG_KEEP_MS],
  // Not the newest, however long it runs: the next start looks there for how this one ended, and when.
  [
    `DELETE FROM boots WHERE seq IN
       (SELECT seq FROM boots WHERE alive_ms <= ? AND seq < (SELECT max(seq) FROM boots) LIMIT ?)`,
    LOG_KEEP_MS,
  ],
];
/** Whatever their age: the newest so many decisions, and twice as many waits. */
const MOST_DECISIONS = 500_000;
const EXCESS_DECISIONS = `
  SELECT id FROM decisions WHERE seq <= (SELECT max(seq) FROM decisions) - ${MOST_DECISIONS} LIMIT ?`;
const EXCESS_WAITS = `
  DELETE FROM waits WHERE seq IN
    (SELECT seq FROM waits WHERE seq <= (SELECT max(seq) FROM waits) - ${2 * MOST_DECISIONS} LIMIT ?)`;
/** A removed job's traces: by age, and never more than this many. */
const MOST_PAST_JOBS = 500_000;
export const OLD_PAST_JOBS =
  "DELETE FROM past_jobs WHERE id IN (SELECT id FROM past_jobs WHERE id < ? ORDER BY id LIMIT ?)";
const EXCESS_PAST_JOBS = `
  DELETE FROM past_jobs WHERE seq IN
    (SELECT seq FROM past_jobs WHERE seq <= (SELECT max(seq) FROM past_jobs) - ${MOST_PAST_JOBS} LIMIT ?)`;
const EXCESS_SHADOWS = `
  DELETE FROM shadows WHERE seq IN
    (SELECT seq FROM shadows WHERE seq <= (SELECT max(seq) FROM shadows) - ${MOST_DECISIONS} LIMIT ?)`;
const EXCESS_SPANS = `
  DELETE FROM spans WHERE to_ms IS NOT NULL AND seq IN
    (SELECT seq FROM spans WHERE seq <= (SELECT max(seq) FROM spans) - ${2 * MOST_DECISIONS} LIMIT ?)`;
export const OLD_DECISIONS = "SELECT id FROM decisions INDEXED BY decisions_by_time WHERE at_ms <= ? LIMIT ?";

/** Lane by lane, along the index that reads them. What goes on stays. */
export function oldSpans(grain: 0 | 1): string {
  return `
    DELETE FROM spans WHERE to_ms IS NOT NULL AND seq IN (
      SELECT spans.seq FROM lanes CROSS JOIN spans INDEXED BY spans_of_lane
      ON grain = ${grain} AND spans.device = lanes.device AND spans.model = lanes.model AND from_ms <= ? LIMIT ?)`;
}

export interface Retention {
  markRead(at: Stamp, id: JobId): void;
  notePolls(at: Stamp, polls: readonly (readonly [id: JobId, atMs: number])[]): void;
  prune(at: Stamp): boolean;
}

export function createRetention(
  db: Database,
  settings: CoreSettings,
  purger: Purger,
  ledger: Ledger,
  files: FileKeeper,
  batches: BatchSweeper,
  webhooks: Announcer,
): Retention {
  const markRead = db.prepare(MARK_READ);
  const notePoll = db.prepare(NOTE_POLL);
  const tombstones = db.prepare<[number, number], number>(OLD_TOMBSTONES).pluck();
  const drops = [KEEP_PAST, "DELETE FROM job_events WHERE job = ?", "DELETE FROM attempts WHERE job = ?"]
    .concat("DELETE FROM jobs WHERE seq = ?")
    .map((sql) => db.prepare(sql));
  const logs = OLD_LOGS.map(([sql, keepMs]) => ({ drop: db.prepare(sql), keepMs }));
  const oldDecisions = db.prepare<[number, number], string>(OLD_DECISIONS).pluck();
  const excessDecisions = db.prepare<[number], string>(EXCESS_DECISIONS).pluck();
  const excess = [EXCESS_WAITS, EXCESS_PAST_JOBS, EXCESS_SHADOWS, EXCESS_SPANS].map((sql) => db.prepare(sql));
  const oldPastJobs = db.prepare(OLD_PAST_JOBS);
  const dropDecision = db.prepare("DELETE FROM decisions WHERE id = ?");
  const dropSubjects = db.prepare("DELETE FROM decision_subjects WHERE id = ?");

  const pruneLogs = (atMs: number): number => {
    let most = 0;
    for (const { drop, keepMs } of logs) most = Math.max(most, drop.run(atMs - keepMs, PURGE_BATCH).changes);
    for (const drop of excess) most = Math.max(most, drop.run(PURGE_BATCH).changes);
    most = Math.max(most, oldPastJobs.run(jobIdAt(Math.max(0, atMs - PAST_KEEP_MS)), PURGE_BATCH).changes);
    const old = [...oldDecisions.all(atMs - LOG_KEEP_MS, PURGE_BATCH), ...excessDecisions.all(PURGE_BATCH)];
    for (const id of old) {
      dropSubjects.run(id);
      dropDecision.run(id);
    }
    return Math.max(most, old.length);
  };

  return {
    markRead(at, id) {
      const purgeAfterMs = settings.readTtlMs === null ? Number.MAX_SAFE_INTEGER : at.atMs + settings.readTtlMs;
      markRead.run({ atMs: at.atMs, purgeAfterMs, id });
    },
    notePolls(_at, polls) {
      for (const [id, atMs] of polls) notePoll.run({ atMs, id });
    },
    prune(at) {
      const purged = purger.purgeDue(at.atMs);
      const swept = Math.max(files.sweep(at), batches.sweep(at), webhooks.sweep(at));
      const old = tombstones.all(at.atMs - TOMBSTONE_MS, PURGE_BATCH);
      for (const seq of old) for (const drop of drops) drop.run(seq);
      ledger.jobsBy(-old.length);
      const roomy = purger.makeRoom(at.atMs, 0);
      const logged = pruneLogs(at.atMs);
      const full = [purged, swept, old.length, logged].some((count) => count >= PURGE_BATCH);
      return full || (!roomy && purger.evictableLeft());
    },
  };
}
