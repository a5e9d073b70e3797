// The statements of the jobs' list: along one index in its order, with every filter as a column of the answer, so that a
// slice is bounded by what it looks at and not by what it finds.

import type { Band } from "../../domain/band.ts";
import type { JobRowQuery } from "../job-rows.ts";
import { EXPIRED, FAILED, QUEUED, RUNNING, STATUSES } from "./job-row.ts";

/** Which index a page goes along. `bad`: of one status that is not success. */
export type Along = "request" | "id" | "bad" | "badOfModel" | "live" | "caller" | "model";

const DRIVERS: Readonly<Record<Along, string>> = {
  request: "jobs INDEXED BY jobs_by_request WHERE client_request_id = @requestId",
  id: "jobs WHERE 1",
  bad: "jobs INDEXED BY jobs_unsuccessful WHERE status = @bad AND status > 2",
  badOfModel: "jobs INDEXED BY jobs_unsuccessful_of_model WHERE model = @model AND status = @bad AND status > 2",
  live: "jobs INDEXED BY jobs_live WHERE status < 2",
  caller: "jobs INDEXED BY jobs_by_caller WHERE caller = @caller",
  model: "jobs INDEXED BY jobs_by_model WHERE model = @model",
};

/** By priority, as `bandOf`. */
const BAND_SQL: Readonly<Record<Band, string>> = {
  interactive: "priority >= 50",
  normal: "priority > -50 AND priority < 50",
  batch: "priority <= -50",
};

export interface Bound {
  readonly [name: string]: string | number | null;
}

/** The filters that are asked for, as one condition; and what it binds. */
export function filterOf(query: JobRowQuery): { readonly sql: string; readonly bound: Bound } {
  const { caller, status, model, band, cause, text } = query;
  const conditions: string[] = [];
  if (caller !== null) conditions.push("caller = @caller");
  if (model !== undefined) conditions.push("model = @model");
  if (band !== undefined) conditions.push(BAND_SQL[band]);
  if (status !== undefined) conditions.push("status IN (SELECT value FROM json_each(@statuses))");
  if (cause !== undefined) {
    conditions.push(`(top_cause = @cause OR (status = ${QUEUED} AND model IN (SELECT value FROM json_each(@models))))`);
  }
  if (text !== undefined && "requestId" in text) conditions.push("client_request_id = @requestId");
  return {
    sql: conditions.length === 0 ? "1" : conditions.join(" AND "),
    bound: {
      ...(caller === null ? {} : { caller }),
      ...(model === undefined ? {} : { model }),
      ...(status === undefined ? {} : { statuses: JSON.stringify(status.map((each) => STATUSES.indexOf(each))) }),
      ...(cause === undefined ? {} : { cause: cause.cause, models: JSON.stringify(cause.models) }),
      ...(text !== undefined && "requestId" in text ? { requestId: text.requestId } : {}),
    },
  };
}

/** The indexes whose rows together are all that can match, the most telling first. */
export function alongOf({ caller, status, model, text }: JobRowQuery): { along: Along; bad?: number }[] {
  if (text !== undefined) return [{ along: "requestId" in text ? "request" : "id" }];
  const numbers = status?.map((each) => STATUSES.indexOf(each)) ?? [];
  if (numbers.length > 0 && numbers.every((each) => each >= FAILED && each <= EXPIRED)) {
    return [...new Set(numbers)].map((bad) => ({ along: model === undefined ? "bad" : "badOfModel", bad }));
  }
  if (numbers.length > 0 && numbers.every((each) => each <= RUNNING)) return [{ along: "live" }];
  if (caller !== null) return [{ along: "caller" }];
  return [{ along: model === undefined ? "id" : "model" }];
}

/** Ids of a range, newest first, with whether each matches. `lowest` is included, `end` is not. */
export function rowsSql(along: Along, filter: string): string {
  return `SELECT id, ${filter} FROM ${DRIVERS[along]} AND id >= @lowest AND id < @end ORDER BY id DESC LIMIT @rows`;
}

/** The same for ends alone, with how long each waited. */
export function endsSql(along: Along, filter: string): string {
  return `SELECT id, wait_ms IS NOT NULL AND ${filter}, wait_ms FROM ${DRIVERS[along]}
  AND id >= @lowest AND id < @end ORDER BY id DESC LIMIT @rows`;
}

/** Ends are sorted by their wait within stretches of so long, which the first digits of an id name. */
export const BUCKET_MS = 2 ** 20;

export function bucketText(bucket: number): string {
  return `job_${bucket.toString(16).padStart(7, "0")}`;
}

/** Ends of one bucket that waited longer than `least`, longest first, from behind `most` and `last` on. */
export function bucketSql(filter: string): string {
  return `SELECT id, id >= @lowest AND id < @end AND ${filter}, wait_ms FROM jobs INDEXED BY jobs_by_wait
  WHERE substr(id, 1, 11) = @bucket AND (wait_ms, id) < (@most, @last) AND wait_ms > @least
  ORDER BY wait_ms DESC, id DESC LIMIT @rows`;
}

/** The oldest first, which wait longest. */
export function queuedSql(filter: string): string {
  return `SELECT id, status = ${QUEUED} AND ${filter} FROM jobs INDEXED BY jobs_live
  WHERE status < 2 AND id > @after AND id < @end ORDER BY id LIMIT @rows`;
}

/** As many as run are sorted. */
export function runningSql(filter: string): string {
  return `SELECT id, ${filter}, started_ms - accepted_ms FROM jobs INDEXED BY jobs_running
  WHERE status = 1 AND id > @after AND id < @end ORDER BY id LIMIT @rows`;
}

export const LAST_WAITS = `
  SELECT * FROM waits INDEXED BY waits_by_model WHERE model = ? ORDER BY from_ms DESC, seq DESC LIMIT ?`;
/** Null: it is queued. */
export const WAIT_OF = "SELECT coalesce(wait_ms, started_ms - accepted_ms) FROM jobs WHERE id = ?";
/** The first and the last id that there are. */
export const ENDS_OF_ALL = "SELECT (SELECT min(id) FROM jobs), (SELECT max(id) FROM jobs)";
