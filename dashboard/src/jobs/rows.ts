// The rows that were read so far, page by page along a key, and what the stream and later reads do to them. Pure: the
// page asks, this keeps.

import type { JobRow, JobRowList, LiveJobWire } from "../../../src/client/wire-live.ts";

/** A row, and when it was true: Unix ms, the router's. */
export interface ReadRow extends JobRow {
  readonly readMs: number;
}

export interface Rows {
  readonly list: readonly ReadRow[];
  /** Where the next page begins; null: there is none. */
  readonly after: string | null;
  /** The server looked back to here and its budget ended; null: it looked at all that it has. */
  readonly scannedToMs: number | null;
  /** Jobs that came since and are not shown yet. */
  readonly fresh: number;
}

export const NO_ROWS: Rows = { list: [], after: null, scannedToMs: null, fresh: 0 };

/** A first page that takes the place of everything. */
export function firstPage(page: JobRowList, readMs: number): Rows {
  return { ...endOf(page), list: page.data.map((row) => ({ ...row, readMs })), fresh: 0 };
}

/** The next page put behind what there is. */
export function appended(rows: Rows, page: JobRowList, readMs: number): Rows {
  const known = new Set(rows.list.map(({ id }) => id));
  const more = page.data.filter(({ id }) => !known.has(id)).map((row) => ({ ...row, readMs }));
  return { ...rows, ...endOf(page), list: [...rows.list, ...more] };
}

function endOf(page: JobRowList): Pick<Rows, "after" | "scannedToMs"> {
  return { after: page.has_more ? page.last_id : null, scannedToMs: page.scanned_to_ms };
}

/**
 * A page that was read again: rows that are known become what it says, in their places. Unknown ones above a known one
 * are new; they are counted and not shown, so that nothing moves under the reader.
 */
export function refreshed(rows: Rows, page: JobRowList, readMs: number): Rows {
  const byId = new Map(page.data.map((row) => [row.id, row]));
  const known = new Set(rows.list.map(({ id }) => id));
  const lastKnown = page.data.findLastIndex(({ id }) => known.has(id));
  const within = lastKnown === -1 ? page.data : page.data.slice(0, lastKnown);
  const fresh = within.filter(({ id }) => !known.has(id)).length;
  const list = rows.list.map((row) => newer(row, byId.get(row.id), readMs));
  return { ...rows, list, fresh: Math.max(rows.fresh, fresh) };
}

/** The same object where nothing changed, so that the row is not drawn again. */
function newer(row: ReadRow, next: JobRow | undefined, readMs: number): ReadRow {
  if (next === undefined) return row;
  const read = { ...next, readMs };
  return JSON.stringify({ ...row, readMs }) === JSON.stringify(read) ? row : read;
}

/** What the stream says of jobs that are shown. @returns the same object when none of them is. */
export function touched(rows: Rows, jobs: readonly LiveJobWire[]): Rows {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  let changed = false;
  const list = rows.list.map((row) => {
    const job = byId.get(row.id);
    if (job === undefined || (job.status === row.status && job.started_at === row.started_at)) return row;
    changed = true;
    const { status, started_at, completed_at } = job;
    return { ...row, status, started_at, completed_at };
  });
  return changed ? { ...rows, list } : rows;
}

export const isOver = ({ status }: Pick<JobRow, "status">): boolean => status !== "queued" && status !== "in_progress";

/** The row as it stands at `nowMs`: while a job waits or runs, the last stretch of its time goes on. */
export function grown<Row extends ReadRow>(row: Row, nowMs: number): Row {
  const moreMs = Math.max(0, Math.round(nowMs - row.readMs));
  if (isOver(row) || row.readMs === 0 || moreMs === 0) return row;
  const last = row.parts.at(-1);
  const parts = last === undefined ? row.parts : [...row.parts.slice(0, -1), { ...last, ms: last.ms + moreMs }];
  return row.status === "queued"
    ? { ...row, parts, wait_ms: row.wait_ms + moreMs }
    : { ...row, parts, run_ms: row.run_ms + moreMs };
}
