// What the stream does to the rows of the jobs' list: those that are shown become what it says in their places, others that
// match are counted as new. Only what it does not say has to be read from the router. Pure.

import type { LiveJobWire } from "../../../src/client/wire-live.ts";
import type { JobFilters } from "./filters.ts";
import { type Cause, FRESH_MAX, grown, isOver, type ReadRow, type Rows } from "./rows.ts";

/** What the queue of each model waits for; none: it does not, or that is not known. */
export type Causes = ReadonlyMap<string, string>;

/** One frame of the stream. */
export interface News {
  readonly jobs: readonly LiveJobWire[];
  readonly atMs: number;
  /** Of queues that wait for something else than before. */
  readonly changed: Causes;
  readonly causes: Causes;
}

/** @returns the same object when it says nothing of these rows. */
export function told(rows: Rows, { jobs, atMs, changed, causes }: News, filters: JobFilters): Rows {
  return counted(touched(followed(rows, changed, atMs), jobs, atMs), jobs, filters, causes);
}

/** @returns the same object when none of its rows changed. */
export function touched(rows: Rows, jobs: readonly LiveJobWire[], atMs: number): Rows {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return withRows(rows, (row) => {
    const job = byId.get(row.id);
    return job === undefined || saysNothing(job, row) ? row : become(row, job, atMs);
  });
}

/** Rows that wait go on waiting for what their model's queue waits for now. @param causes Of queues where that changed. */
export function followed(rows: Rows, causes: Causes, atMs: number): Rows {
  return withRows(rows, (row) => {
    const cause = row.status === "queued" ? causes.get(row.model) : undefined;
    if (cause === undefined || cause === row.cause) return row;
    const { parts, ...before } = grown(row, atMs);
    const own = parts.find((part) => part.cause === cause) ?? { cause: cause as Cause, ms: 0 };
    const untold = parts.length === 0 && row.wait_ms > 0;
    return { ...before, cause, parts: untold ? [] : [...parts.filter((part) => part !== own), own], readMs: atMs };
  });
}

/** Something happened to a shown row that only the router can tell: an attempt was lost, or how its time went is missing. */
export function mustBeRead(rows: Rows, jobs: readonly LiveJobWire[]): boolean {
  const byId = new Map(rows.list.map((row) => [row.id, row]));
  return jobs.some((job) => {
    const row = byId.get(job.id);
    if (row === undefined || saysNothing(job, row)) return false;
    return isOver(job) ? job.parts === null : row.status !== "queued";
  });
}

/** Those that match, are not shown and have their place among what is shown. One that no longer matches is not new. */
export function counted(rows: Rows, jobs: readonly LiveJobWire[], filters: JobFilters, causes: Causes): Rows {
  const known = new Set(rows.list.map(({ id }) => id));
  const fresh = new Set(rows.fresh);
  for (const job of jobs) {
    if (known.has(job.id)) continue;
    if (!matches(job, filters, causes) || !hasItsPlace(job, rows, filters)) fresh.delete(job.id);
    else if (fresh.size < FRESH_MAX) fresh.add(job.id);
  }
  const same = fresh.size === rows.fresh.size && [...fresh].every((id) => rows.fresh.has(id));
  return same ? rows : { ...rows, fresh };
}

function withRows(rows: Rows, change: (row: ReadRow) => ReadRow): Rows {
  const list = rows.list.map(change);
  return list.every((row, index) => row === rows.list[index]) ? rows : { ...rows, list };
}

const saysNothing = (job: LiveJobWire, row: ReadRow): boolean =>
  job.status === row.status && job.started_at === row.started_at;

function become(row: ReadRow, job: LiveJobWire, atMs: number): ReadRow {
  const { status, started_at, completed_at, parts } = job;
  if (parts !== null) return { ...row, status, started_at, completed_at, ...sumsOf(parts), readMs: atMs };
  const before = { ...grown(row, atMs), status, started_at, completed_at, readMs: atMs };
  if (row.status !== "queued" || status !== "in_progress") return before;
  return { ...before, parts: [...before.parts, { cause: "running", ms: 0 }] };
}

function sumsOf(told: NonNullable<LiveJobWire["parts"]>): Pick<ReadRow, "parts" | "wait_ms" | "run_ms" | "cause"> {
  const parts = told.map(([cause, ms]) => ({ cause, ms }));
  const waits = parts.filter(({ cause }) => cause !== "running");
  const sum = (list: typeof parts): number => list.reduce((whole, { ms }) => whole + ms, 0);
  const most = waits.reduce<(typeof parts)[number] | null>((a, b) => (b.ms > (a?.ms ?? 0) ? b : a), null);
  return { parts, wait_ms: sum(waits), run_ms: sum(parts) - sum(waits), cause: most?.cause ?? null };
}

function matches(job: LiveJobWire, filters: JobFilters, causes: Causes): boolean {
  const { status, model, band, caller, cause, q } = filters;
  if (status !== "" && job.status !== status) return false;
  if (model !== "" && job.model !== model) return false;
  if (band !== "" && job.band !== band) return false;
  // Whoever may not know the callers sees its own jobs alone.
  if (caller !== "" && job.caller !== null && job.caller !== caller) return false;
  // A search for a request's id is answered once; the stream does not say whose id it is.
  if (q !== "" && !(q.startsWith("job_") && job.id.startsWith(q))) return false;
  if (cause === "") return true;
  return cause === (job.status === "queued" ? causes.get(job.model) : job.parts !== null && sumsOf(job.parts).cause);
}

function hasItsPlace(job: LiveJobWire, { list, after }: Rows, { sort }: JobFilters): boolean {
  const last = list.at(-1);
  if (after === null || last === undefined) return true;
  // Ids grow with time.
  if (sort === "") return job.id > last.id;
  return job.parts !== null && sumsOf(job.parts).wait_ms > last.wait_ms;
}
