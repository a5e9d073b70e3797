// The job log as history, on any connection that can read: page by page along an index, no cursor left open.

import type { Database } from "better-sqlite3";
import {
  type DecisionId,
  type DeviceId,
  type InstanceId,
  type JobId,
  jobIdAt,
  type ModelName,
} from "../../domain/ids.ts";
import type { JobStatus } from "../../domain/job.ts";
import type { Pause } from "../../domain/pause.ts";
import type { Shadow, Tuning } from "../../domain/tuning.ts";
import type { History, PastJob, PastMove, PastPage, PastQuery, PastRun, Range, SetupRecord } from "../history.ts";
import { STATUSES } from "./job-row.ts";
import { DOWNTIMES, toLoad } from "./reads.ts";
import type { LoadRow } from "./schema.ts";

const RUNS = `
  (SELECT json_group_array(json_array(started_ms, ended_ms, outcome, instance)) FROM
    (SELECT started_ms, ended_ms, outcome, instance FROM attempts WHERE job = jobs.seq ORDER BY epoch))`;
const FIELDS = "id, model, priority, status, reason, accepted_ms, deadline_ms, finished_ms, runs";
const LIVE_FIELDS = `
  id, model, priority, status, coalesce(cancel_reason, error_code) AS reason, accepted_ms, deadline_ms, finished_ms,
  ${RUNS} AS runs`;
/** A job's row is about to go; a second copy of the same is none. */
export const KEEP_PAST = `
  INSERT INTO past_jobs (${FIELDS}) SELECT ${LIVE_FIELDS} FROM jobs WHERE seq = ? ON CONFLICT DO NOTHING`;
export const JOBS = `SELECT ${LIVE_FIELDS} FROM jobs WHERE id > @after AND id < @end ORDER BY id LIMIT @limit`;
export const PAST_JOBS = `SELECT ${FIELDS} FROM past_jobs WHERE id > @after AND id < @end ORDER BY id LIMIT @limit`;
export const PAST_LOADS = `
  SELECT * FROM loads INDEXED BY loads_by_time
  WHERE ended_ms >= @fromMs AND ended_ms < @toMs AND (ended_ms, seq) > (@fromMs, @seq)
  ORDER BY ended_ms, seq LIMIT @limit`;
export const MOVES = `
  SELECT seq, id, at_ms, kind, reason, device, detail FROM decisions INDEXED BY decisions_by_time
  WHERE at_ms >= @fromMs AND at_ms < @toMs AND (at_ms, seq) > (@fromMs, @seq) AND kind NOT IN ('hold', 'idle')
  ORDER BY at_ms, seq LIMIT @limit`;
export const SHADOWS = `
  SELECT seq, at_ms, detail FROM shadows INDEXED BY shadows_by_time
  WHERE at_ms >= @fromMs AND at_ms < @toMs AND (at_ms, seq) > (@fromMs, @seq)
  ORDER BY at_ms, seq LIMIT @limit`;
const SETUPS = `
  SELECT at_ms AS atMs, detail FROM setups
  WHERE at_ms < @toMs AND seq >= coalesce((SELECT max(seq) FROM setups WHERE at_ms <= @fromMs), 0) ORDER BY seq`;
const PAUSES = `
  SELECT scope, subject, who, note, from_ms AS fromMs, to_ms AS toMs FROM pauses
  WHERE from_ms < @toMs AND (to_ms IS NULL OR to_ms > @fromMs) ORDER BY seq`;
const FIRST = `
  SELECT min(accepted_ms) FROM (
    SELECT * FROM (SELECT accepted_ms FROM jobs ORDER BY id LIMIT 1)
    UNION ALL SELECT * FROM (SELECT accepted_ms FROM past_jobs ORDER BY id LIMIT 1))`;
const LAST = FIRST.replace("min(", "max(").replaceAll("ORDER BY id", "ORDER BY id DESC");

interface PastRow {
  readonly id: string;
  readonly model: string;
  readonly priority: number;
  readonly status: number;
  readonly reason: string | null;
  readonly accepted_ms: number;
  readonly deadline_ms: number | null;
  readonly finished_ms: number | null;
  readonly runs: string;
}

interface LogRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly detail: string;
}

type MoveRow = LogRow & {
  readonly id: string;
  readonly kind: string;
  readonly reason: string;
  readonly device: string;
};
type InTime = Range & { readonly seq: number; readonly limit: number };
type ById = { readonly after: string; readonly end: string; readonly limit: number };

export function createHistory(db: Database): History {
  const jobs = [JOBS, PAST_JOBS].map((sql) => db.prepare<[ById], PastRow>(sql));
  const loads = db.prepare<[InTime], LoadRow>(PAST_LOADS);
  const moves = db.prepare<[InTime], MoveRow>(MOVES);
  const shadows = db.prepare<[InTime], LogRow>(SHADOWS);
  const setups = db.prepare<[Range], { atMs: number; detail: string }>(SETUPS);
  const downtimes = db.prepare<[Range], Range>(DOWNTIMES);
  const pauses = db.prepare<[Range], Pause>(PAUSES);
  const ends = [FIRST, LAST].map((sql) => db.prepare<[], number | null>(sql).pluck());
  const tunings = db.prepare<[number], string>("SELECT detail FROM tunings ORDER BY seq DESC LIMIT ?").pluck();

  return {
    async jobs({ fromMs, toMs, after, limit }) {
      const range = { after: after ?? jobIdAt(fromMs), end: jobIdAt(toMs), limit };
      const rows = jobs.flatMap((statement) => statement.all(range)).sort((a, b) => (a.id < b.id ? -1 : 1));
      // The pruner may have moved a row between the two reads: then both have it, or neither misses it.
      const page = rows.filter(({ id }, i) => id !== rows[i - 1]?.id).slice(0, limit);
      return { data: page.map(toPastJob), next: page.length < limit ? null : (page.at(-1)?.id ?? null) };
    },
    loads: async (query) => pageOf(loads.all(inTime(query)), query, (row) => row.ended_ms, toLoad),
    moves: async (query) => pageOf(moves.all(inTime(query)), query, atOf, toMove),
    shadows: async (query) => pageOf(shadows.all(inTime(query)), query, atOf, toShadow),
    setups: async (range) => setups.all(range).map(toSetup),
    downtimes: async (range) => downtimes.all(range),
    pauses: async (range) =>
      pauses.all(range).map((row) => ({ ...row, subject: row.subject === "" ? null : row.subject })),
    async span() {
      const [fromMs, toMs] = ends.map((statement) => statement.get() ?? null);
      return fromMs == null || toMs == null ? null : { fromMs, toMs };
    },
    tunings: async (limit) => tunings.all(limit).map((detail) => JSON.parse(detail) as Tuning),
  };
}

const atOf = (row: LogRow): number => row.at_ms;

function inTime({ fromMs, toMs, after, limit }: PastQuery): InTime {
  if (after === null) return { fromMs, toMs, seq: -1, limit };
  const [at = "", seq = ""] = after.split(":");
  return { fromMs: Math.max(fromMs, Number(at)), toMs, seq: Number(seq), limit };
}

function pageOf<Row extends { readonly seq: number }, Value>(
  rows: readonly Row[],
  { limit }: PastQuery,
  at: (row: Row) => number,
  read: (row: Row) => Value,
): PastPage<Value> {
  const last = rows.at(-1);
  const next = last === undefined || rows.length < limit ? null : `${at(last)}:${last.seq}`;
  return { data: rows.map(read), next };
}

function toPastJob(row: PastRow): PastJob {
  const runs = JSON.parse(row.runs) as [number, number | null, string | null, InstanceId][];
  return {
    id: row.id as JobId,
    model: row.model as ModelName,
    priority: row.priority,
    status: STATUSES[row.status] as JobStatus,
    reason: row.reason,
    acceptedAtMs: row.accepted_ms,
    deadlineAtMs: row.deadline_ms,
    finishedAtMs: row.finished_ms,
    runs: runs.map(
      ([startedAtMs, endedAtMs, outcome, instance]): PastRun => ({ startedAtMs, endedAtMs, outcome, instance }),
    ),
  };
}

function toMove(row: MoveRow): PastMove {
  const { policy, load, evict } = JSON.parse(row.detail) as Pick<PastMove, "policy" | "load" | "evict">;
  return {
    id: row.id as DecisionId,
    atMs: row.at_ms,
    kind: row.kind as PastMove["kind"],
    reason: row.reason as PastMove["reason"],
    policy,
    device: row.device as DeviceId,
    load,
    evict,
  };
}

const toShadow = (row: LogRow): Shadow => JSON.parse(row.detail) as Shadow;

function toSetup({ atMs, detail }: { atMs: number; detail: string }): SetupRecord {
  return { atMs, setup: JSON.parse(detail) as unknown };
}
