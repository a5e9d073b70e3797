// Reads the jobs' list: slices along an index until the page is full or enough rows were looked at. Nothing is counted, and
// nothing is skipped over.

import type { Database, Statement } from "better-sqlite3";
import { type JobId, jobIdAt } from "../../domain/ids.ts";
import type { JobRowPage, JobRowQuery, JobRowVerbs } from "../job-rows.ts";
import { toJob } from "./job-row.ts";
import { type Along, alongOf, type Bound, filterOf, LAST_WAITS, rowsSql, WAIT_OF, waitsSql } from "./job-rows-sql.ts";
import { toWait } from "./reads.ts";
import type { JobRow, WaitRow } from "./schema.ts";

/** Most rows looked at before others get their turn, and for one page. */
const SLICE_ROWS = 500;
export const SCAN_ROWS = 20_000;
/** Behind every id. */
const END = "job_g";

type Found = readonly [id: string, matches: number, waitMs?: number];

interface Scan {
  readonly found: readonly Found[];
  /** Not the end of the range. */
  readonly stopped: boolean;
  readonly last: string | null;
}

export interface Turns {
  /** In which a reader's failure is named. */
  read<T>(act: () => Promise<T>): Promise<T>;
  /** Lets others have their turn. */
  breathe(): Promise<void>;
}

export function createJobRows(db: Database, { read, breathe }: Turns): JobRowVerbs {
  const statements = new Map<string, Statement<[Bound], Found>>();
  const prepared = (sql: string): Statement<[Bound], Found> => {
    const known = statements.get(sql) ?? (db.prepare<[Bound], Found>(sql).raw() as Statement<[Bound], Found>);
    statements.set(sql, known);
    return known;
  };
  const byId = db.prepare<[string], JobRow>("SELECT * FROM jobs WHERE id = ?");
  const waitOf = db.prepare<[Bound], number>(WAIT_OF).pluck();

  /** @param most Stops once so many match. */
  const scan = async (sql: string, bound: Bound, most: number, budget: number): Promise<Scan> => {
    const found: Found[] = [];
    let end = bound["end"] ?? END;
    let looked = 0;
    for (let rows = Math.min(SLICE_ROWS, most + 1); ; rows = SLICE_ROWS) {
      const slice = prepared(sql).all({ ...bound, end, rows });
      for (const row of slice) if (row[1] === 1) found.push(row);
      looked += slice.length;
      const last = slice.at(-1)?.[0] ?? null;
      if (last !== null) end = last;
      const over = slice.length < rows;
      if (over || found.length >= most || looked >= budget) {
        return { found, stopped: !over, last: looked === 0 ? null : String(end) };
      }
      await breathe();
    }
  };
  const load = (ids: readonly string[]): JobRowPage["jobs"] =>
    ids.flatMap((id) => {
      const row = byId.get(id);
      return row === undefined ? [] : [toJob(row)];
    });

  const newest = async (query: JobRowQuery): Promise<JobRowPage> => {
    const { sql, bound } = filterOf(query);
    const range = rangeOf(query);
    const drivers = alongOf(query);
    const scans = [];
    for (const { along, bad } of drivers) {
      const all = { ...bound, ...range, ...(bad === undefined ? {} : { bad }) };
      scans.push(await scan(rowsSql(along, sql), all, query.limit + 1, SCAN_ROWS / drivers.length));
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
    const { sql, bound } = filterOf(query);
    const { after, status: _, ...wide } = query;
    const { lowest, end } = rangeOf(wide);
    const [driver = { along: "id" as Along }] = alongOf(wide);
    const now = { ...bound, nowMs };
    const before = { ...now, lowest: "", end: lowest };
    const live = await scan(waitsSql("live", sql), before, SCAN_ROWS, SCAN_ROWS / 2);
    const inside = await scan(waitsSql(driver.along, sql), { ...now, lowest, end }, SCAN_ROWS, SCAN_ROWS);
    const ranked = [...live.found, ...inside.found].map(([id, , waitMs = 0]) => ({ id, waitMs }));
    ranked.sort(longestFirst);
    const behind = after === undefined ? null : { id: after as string, waitMs: waitOf.get({ id: after, nowMs }) ?? 0 };
    const left = behind === null ? ranked : ranked.filter((each) => longestFirst(behind, each) < 0);
    const page = left.slice(0, query.limit);
    return {
      jobs: load(page.map(({ id }) => id)),
      more: left.length > query.limit,
      last: (page.at(-1)?.id ?? null) as JobId | null,
      scannedToMs: inside.stopped && inside.last !== null ? instantOf(inside.last) : null,
    };
  };

  const lastWaits = db.prepare<[string, number], WaitRow>(LAST_WAITS);
  return {
    lastWaits: (model, limit) => read(async () => lastWaits.all(model, limit).map(toWait).reverse()),
    newest: (query) => read(() => newest(query)),
    longest: (query, nowMs) => read(() => longest(query, nowMs)),
  };
}

interface Ranked {
  readonly id: string;
  readonly waitMs: number;
}

function longestFirst(a: Ranked, b: Ranked): number {
  if (a.waitMs !== b.waitMs) return b.waitMs - a.waitMs;
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
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

/** The 48 bits of a UUIDv7 that are its instant. */
function instantOf(id: string): number {
  return Number.parseInt(id.slice(4, 16), 16);
}
