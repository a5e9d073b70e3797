// Point reads on one connection, with statements prepared once. Synchronous: a read takes microseconds, and no cursor
// stays open, because an open cursor lets the WAL grow without end.

import type { Database } from "better-sqlite3";
import type { Decision, Looks } from "../../domain/decision.ts";
import type { CallerId, DecisionId, DeviceId, InstanceId, JobId, ModelName, OwnerId } from "../../domain/ids.ts";
import type { Job } from "../../domain/job.ts";
import type { LoadRecord } from "../../domain/journal.ts";
import type { HoldRule, QueueCause, Wait, WaitDetail } from "../../domain/wait.ts";
import type { Attempt, StoredEvent } from "../store.ts";
import { BY_KEY } from "./accept.ts";
import { toJob } from "./job-row.ts";
import { DEAD_OWNERS } from "./recovery.ts";
import type { AttemptRow, DecisionRow, JobRow, LoadRow, WaitRow } from "./schema.ts";

export const LIVE = `
  SELECT * FROM jobs INDEXED BY jobs_live
  WHERE status < 2 AND id > ? AND status = 0 AND durable = 1 ORDER BY id LIMIT ?`;
// Stretches of one model do not overlap, so the only earlier one that can reach in is the last before `from`.
export const WAITS = `
  SELECT * FROM waits INDEXED BY waits_by_model
  WHERE model = @model AND from_ms <= @toMs AND from_ms >= coalesce(
      (SELECT max(from_ms) FROM waits INDEXED BY waits_by_model WHERE model = @model AND from_ms <= @fromMs), @fromMs)
    AND (to_ms IS NULL OR to_ms >= @fromMs)
  ORDER BY from_ms, seq`;
// From model to model and from its newest load back, along one index: a month of loads is not read through at each start.
export const LOADS = `
  WITH RECURSIVE names (model) AS (
    SELECT min(model) FROM loads
    UNION ALL SELECT (SELECT min(model) FROM loads WHERE model > names.model) FROM names WHERE model IS NOT NULL)
  SELECT loads.* FROM names JOIN loads ON loads.model = names.model AND loads.seq IN
    (SELECT seq FROM loads AS each INDEXED BY loads_by_model WHERE each.model = names.model ORDER BY seq DESC LIMIT ?)
  ORDER BY loads.seq DESC`;
const ATTEMPTS = `
  SELECT attempts.* FROM attempts JOIN jobs ON jobs.seq = attempts.job WHERE jobs.id = ? ORDER BY attempts.epoch`;
export const EVENTS = `
  SELECT n, at_ms, type FROM job_events
  WHERE job = (SELECT seq FROM jobs WHERE id = ?) AND n > ? ORDER BY n LIMIT ?`;
export const REPEATS = `
  SELECT * FROM jobs INDEXED BY jobs_by_repeat WHERE repeat IS NOT NULL AND caller = ? AND repeat = ?
  ORDER BY id DESC LIMIT 8`;
export const DOWNTIMES = `
  SELECT ended_ms AS fromMs, started_ms AS toMs FROM
    (SELECT started_ms, lag(alive_ms) OVER (ORDER BY seq) AS ended_ms FROM boots)
  WHERE ended_ms IS NOT NULL AND started_ms > ended_ms AND ended_ms <= @toMs AND started_ms >= @fromMs ORDER BY started_ms`;

export interface Gap {
  fromMs: number;
  toMs: number;
}

export interface Reads {
  job(id: JobId): Job | null;
  keyed(caller: CallerId, key: string): Job | null;
  decision(id: DecisionId): Decision | null;
  waits(model: ModelName, fromMs: number, toMs: number): Wait[];
  attempts(id: JobId): Attempt[];
  loads(limit: number): LoadRecord[];
  eventsAfter(job: JobId, cursor: string | null, limit: number): StoredEvent[];
  downtimes(fromMs: number, toMs: number): Gap[];
  deadOwners(self: OwnerId): OwnerId[];
  live(after: JobId | null, limit: number): Job[];
  repeats(caller: CallerId, repeat: Uint8Array): Job[];
  usage(): { storedBytes: number; jobs: number };
}

export function createReads(db: Database): Reads {
  const job = db.prepare<[string], JobRow>("SELECT * FROM jobs WHERE id = ?");
  const keyed = db.prepare<[string, string], JobRow>(BY_KEY);
  const decision = db.prepare<[string], DecisionRow>(
    "SELECT detail, times, last_ms, trail FROM decisions WHERE id = ?",
  );
  const waits = db.prepare<[Gap & { model: string }], WaitRow>(WAITS);
  const attempts = db.prepare<[string], AttemptRow>(ATTEMPTS);
  const loads = db.prepare<[number], LoadRow>(LOADS);
  const events = db.prepare<[string, number, number], { n: number; at_ms: number; type: string }>(EVENTS);
  const downtimes = db.prepare<[Gap], Gap>(DOWNTIMES);
  const deadOwners = db.prepare<[{ self: string }], string>(DEAD_OWNERS).pluck();
  const live = db.prepare<[string, number], JobRow>(LIVE);
  const repeats = db.prepare<[string, Uint8Array], JobRow>(REPEATS);
  const usage = db.prepare<[], { storedBytes: number; jobs: number }>(
    "SELECT stored_bytes AS storedBytes, jobs FROM usage WHERE id = 1",
  );

  return {
    job(id) {
      const row = job.get(id);
      return row === undefined ? null : toJob(row);
    },
    keyed(caller, key) {
      const row = keyed.get(caller, key);
      return row === undefined ? null : toJob(row);
    },
    decision(id) {
      const row = decision.get(id);
      return row === undefined ? null : toDecision(row);
    },
    waits: (model, fromMs, toMs) => waits.all({ model, fromMs, toMs }).map(toWait),
    attempts: (id) => attempts.all(id).map(toAttempt),
    loads: (limit) => loads.all(limit).map(toLoad),
    eventsAfter(id, cursor, limit) {
      const after = cursor === null ? -1 : Number(cursor);
      const rows = events.all(id, Number.isSafeInteger(after) ? after : -1, limit);
      return rows.map((row) => ({
        cursor: String(row.n),
        atMs: row.at_ms,
        job: id,
        type: row.type as StoredEvent["type"],
      }));
    },
    downtimes: (fromMs, toMs) => downtimes.all({ fromMs, toMs }),
    deadOwners: (self) => deadOwners.all({ self }) as OwnerId[],
    live: (after, limit) => live.all(after ?? "", limit).map(toJob),
    repeats: (caller, repeat) => repeats.all(caller, repeat).map(toJob),
    usage: () => usage.get() ?? { storedBytes: 0, jobs: 0 },
  };
}

export function toDecision(row: DecisionRow): Decision {
  const decision = JSON.parse(row.detail) as Decision;
  if (row.last_ms === null) return decision;
  const trail = row.trail === null ? [] : (JSON.parse(row.trail) as Looks["trail"]);
  return { ...decision, looks: { times: row.times, lastAtMs: row.last_ms, trail } };
}

export function toWait(row: WaitRow): Wait {
  return {
    model: row.model as ModelName,
    cause: row.cause as QueueCause,
    rule: row.rule as HoldRule | null,
    by: row.by_model as ModelName | null,
    device: row.device as DeviceId | null,
    decision: row.decision as DecisionId | null,
    ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) as WaitDetail }),
    fromMs: row.from_ms,
    toMs: row.to_ms,
  };
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    epoch: row.epoch,
    attempt: row.attempt,
    instance: row.instance as InstanceId,
    owner: row.owner as OwnerId,
    startedAtMs: row.started_ms,
    firstByteAtMs: row.first_byte_ms,
    endedAtMs: row.ended_ms,
    outcome: row.outcome,
    detail: row.detail,
    runAfterMs: row.run_after_ms,
  };
}

export function toLoad(row: LoadRow): LoadRecord {
  return {
    instance: row.instance as InstanceId,
    model: row.model as ModelName,
    device: row.device as DeviceId,
    decision: row.decision as DecisionId | null,
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms,
    outcome: row.outcome as LoadRecord["outcome"],
    tier: row.tier as LoadRecord["tier"],
    detail: row.detail,
  };
}
