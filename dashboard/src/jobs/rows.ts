// The rows that were read so far, page by page along a key, and what later reads do to them. Pure: the page asks, this
// keeps; what the stream does to them is in live-rows.ts.

import type { JobRow, JobRowList } from "../../../src/client/wire-live.ts";

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
  /** Ids of jobs that came since and are not shown yet; so many at most are counted. */
  readonly fresh: ReadonlySet<string>;
}

export type Cause = JobRow["parts"][number]["cause"];

export const FRESH_MAX = 50;
const BRIEF_MS = 1_000;
const NONE: ReadonlySet<string> = new Set();
export const NO_ROWS: Rows = { list: [], after: null, scannedToMs: null, fresh: NONE };

/** A first page that takes the place of everything. */
export function firstPage(page: JobRowList, readMs: number): Rows {
  return { ...endOf(page), list: page.data.map((row) => ({ ...row, readMs })), fresh: NONE };
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
  const fresh = new Set([...rows.fresh, ...within.map(({ id }) => id).filter((id) => !known.has(id))]);
  const list = rows.list.map((row) => newer(row, byId.get(row.id), readMs));
  return { ...rows, list, fresh: fresh.size === rows.fresh.size ? rows.fresh : fresh };
}

/** The same object where nothing changed, so that the row is not drawn again. */
function newer(row: ReadRow, next: JobRow | undefined, readMs: number): ReadRow {
  if (next === undefined) return row;
  const read = { ...next, readMs };
  return JSON.stringify({ ...row, readMs }) === JSON.stringify(read) ? row : read;
}

export const isOver = ({ status }: Pick<JobRow, "status">): boolean => status !== "queued" && status !== "in_progress";

/** The row as it stands at `nowMs`: while a job waits or runs, the last stretch of its time goes on. */
export function grown<Row extends ReadRow>(row: Row, nowMs: number): Row {
  const moreMs = Math.max(0, Math.round(nowMs - row.readMs));
  if (isOver(row) || row.readMs === 0 || moreMs === 0) return row;
  const last = row.parts.at(-1) ?? begun(row);
  const parts = last === null ? row.parts : [...row.parts.slice(0, -1), { ...last, ms: last.ms + moreMs }];
  return row.status === "queued"
    ? { ...row, parts, wait_ms: row.wait_ms + moreMs }
    : { ...row, parts, run_ms: row.run_ms + moreMs };
}

/** A wait that had not lasted a moment when it was read has no part yet; a long one without any is not told in parts. */
function begun({ status, cause, wait_ms: ms }: JobRow): JobRow["parts"][number] | null {
  return status === "queued" && cause !== null && ms < BRIEF_MS ? { cause: cause as Cause, ms } : null;
}
