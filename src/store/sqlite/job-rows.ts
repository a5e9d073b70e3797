// Reads the jobs' list: slices along an index until the page is full or enough rows were looked at. Nothing is counted, and
// nothing is skipped over.

import type { Database } from "better-sqlite3";
import { type JobId, jobIdAt } from "../../domain/ids.ts";
import type { JobRowPage, JobRowQuery, JobRowVerbs } from "../job-rows.ts";
import { createJobsOfIds } from "./job-columns.ts";
import { alongOf, filterOf, LAST_WAITS, rowsSql } from "./job-rows-sql.ts";
import { createLongest, instantOf } from "./longest-waits.ts";
import { toWait } from "./reads.ts";
import type { WaitRow } from "./schema.ts";
import { createWalk, type Found } from "./walk.ts";

/** Most rows looked at for one page. */
export const SCAN_ROWS = 20_000;
/** Behind every id. */
const END = "job_g";

export interface Turns {
  /** In which a reader's failure is named. */
  read<T>(act: () => Promise<T>): Promise<T>;
  /** Lets others have their turn. */
  breathe(): Promise<void>;
}

export function createJobRows(db: Database, { read, breathe }: Turns): JobRowVerbs {
  const walk = createWalk(db, breathe);
  const load = createJobsOfIds(db);
  const readLongest = createLongest({ db, walk, breathe, budget: SCAN_ROWS });

  const newest = async (query: JobRowQuery): Promise<JobRowPage> => {
    const { sql, bound } = filterOf(query);
    const range = rangeOf(query);
    const drivers = alongOf(query);
    const scans = [];
    for (const { along, bad } of drivers) {
      const all = { ...bound, ...range, ...(bad === undefined ? {} : { bad }) };
      const road = { sql: rowsSql(along, sql), bound: all, behind: ([id]: Found) => ({ end: id }) };
      scans.push(await walk(road, { most: query.limit + 1, budget: SCAN_ROWS / drivers.length }));
    }
    // Behind where any of them stopped without enough, another's rows would come too early.
    const floor =
      scans
        .flatMap(({ stopped, last }) => (stopped && last !== null ? [last] : []))
        .sort()
        .at(-1) ?? "";
    const ids = scans.flatMap(({ found }) => found.map(([id]) => id));
    const sure = ids.filter((id) => id >= floor).sort((a, b) => (a < b ? 1 : -1));
    const page = sure.slice(0, query.limit);
    const full = sure.length > query.limit;
    const last = full ? (page.at(-1) ?? null) : floor || (page.at(-1) ?? null);
    const scannedToMs = full || floor === "" ? null : instantOf(floor);
    return { jobs: load(page), more: full || floor !== "", last: last as JobId | null, scannedToMs };
  };

  const longest = async (query: JobRowQuery & { readonly fromMs: number }, nowMs: number): Promise<JobRowPage> => {
    const { after: _, ...wide } = query;
    const { ranked, scannedToMs } = await readLongest(query, rangeOf(wide), nowMs);
    const page = ranked.slice(0, query.limit).map(({ id }) => id);
    const last = (page.at(-1) ?? null) as JobId | null;
    return { jobs: load(page), more: ranked.length > query.limit, last, scannedToMs };
  };

  const lastWaits = db.prepare<[string, number], WaitRow>(LAST_WAITS);
  return {
    lastWaits: (model, limit) => read(async () => lastWaits.all(model, limit).map(toWait).reverse()),
    newest: (query) => read(() => newest(query)),
    longest: (query, nowMs) => read(() => longest(query, nowMs)),
  };
}

/** Ids begin with their instant, so a range of time is a range of ids. */
function rangeOf({ fromMs, toMs, after, text }: JobRowQuery) {
  const lowest: string[] = [""];
  const end: string[] = [END];
  if (fromMs !== undefined) lowest.push(jobIdAt(Math.max(0, fromMs)));
  if (toMs !== undefined) end.push(jobIdAt(Math.max(0, toMs)));
  if (after !== undefined) end.push(after);
  if (text !== undefined && "idPrefix" in text) {
    lowest.push(text.idPrefix);
    end.push(`${text.idPrefix}g`);
  }
  return { lowest: lowest.sort().at(-1) ?? "", end: end.sort()[0] ?? END };
}
