// The longest waits of a window: what is queued by its age, what runs, and what ended, bucket by bucket, each no further
// than what may still be among the longest. Of equal waits the queued come first, oldest first; then the newest.

import type { Database } from "better-sqlite3";
import { jobIdAt } from "../../domain/ids.ts";
import type { JobRowQuery } from "../job-rows.ts";
import { QUEUED, RUNNING, STATUSES } from "./job-row.ts";
import {
  alongOf,
  type Bound,
  BUCKET_MS,
  bucketSql,
  bucketText,
  ENDS_OF_ALL,
  endsSql,
  filterOf,
  queuedSql,
  runningSql,
  WAIT_OF,
} from "./job-rows-sql.ts";
import type { Found, Walk } from "./walk.ts";

/** What looking into a bucket costs beside its rows, in rows. */
const BUCKET_ROWS = 8;
/** Buckets before others get their turn. */
const BUCKETS_AT_ONCE = 50;
const LAST_ID = "job_g";

export interface Ranked {
  readonly id: string;
  readonly waitMs: number;
  readonly queued: boolean;
}

interface Asked {
  readonly query: JobRowQuery;
  readonly filter: string;
  readonly bound: Bound;
  /** Ids of the window: `end` is excluded. */
  readonly lowest: string;
  readonly end: string;
  readonly nowMs: number;
  /** The page begins behind it. */
  readonly behind: Ranked | null;
  /** So many are wanted. */
  readonly most: number;
}

export interface Longest {
  /** Longest first, up to one more than the page has. */
  readonly ranked: readonly Ranked[];
  /** Ends were looked at back to this instant; null: all of the window. */
  readonly scannedToMs: number | null;
}

interface Parts {
  readonly db: Database;
  readonly walk: Walk;
  breathe(): Promise<void>;
  /** Rows looked at for one page. */
  readonly budget: number;
}

type Range = Pick<Asked, "lowest" | "end">;
export type ReadLongest = (query: JobRowQuery, range: Range, nowMs: number) => Promise<Longest>;

export function createLongest(parts: Parts): ReadLongest {
  const waitOf = parts.db.prepare<[string], number | null>(WAIT_OF).pluck();
  const rankOf = (id: string, nowMs: number): Ranked => {
    const waitMs = waitOf.get(id) ?? null;
    return waitMs === null ? queuedRank(id, nowMs) : { id, waitMs, queued: false };
  };
  const endsOf = endsReader(parts);

  return async (query, range, nowMs) => {
    const wanted = (status: number): boolean => query.status?.some((each) => STATUSES.indexOf(each) === status) ?? true;
    const { sql: filter, bound } = filterOf(query);
    const behind = query.after === undefined ? null : rankOf(query.after, nowMs);
    const asked: Asked = { query, filter, bound, ...range, nowMs, behind, most: query.limit + 1 };
    const queued = wanted(QUEUED) ? await readQueued(parts, asked) : [];
    const running = wanted(RUNNING) ? await readRunning(parts, asked) : [];
    const ended = STATUSES.some((_, status) => status > RUNNING && wanted(status));
    const ends = ended ? await endsOf(asked) : { ranked: [], scannedToMs: null };
    const ranked = [...queued, ...running, ...ends.ranked].sort(longestFirst);
    const left = behind === null ? ranked : ranked.filter((each) => longestFirst(behind, each) < 0);
    return { ranked: left.slice(0, asked.most), scannedToMs: ends.scannedToMs };
  };
}

async function readQueued({ walk, budget }: Parts, asked: Asked): Promise<Ranked[]> {
  const { filter, bound, end, behind, most, nowMs } = asked;
  const road = {
    sql: queuedSql(filter),
    bound: { ...bound, end, after: youngerThan(behind, nowMs) },
    behind: ([id]: Found) => ({ after: id }),
  };
  const { found } = await walk(road, { most, budget });
  return found.map(([id]) => queuedRank(id, nowMs));
}

async function readRunning({ walk, budget }: Parts, { filter, bound, end }: Asked): Promise<Ranked[]> {
  const road = {
    sql: runningSql(filter),
    bound: { ...bound, end, after: "" },
    behind: ([id]: Found) => ({ after: id }),
  };
  const { found } = await walk(road, { most: budget, budget });
  return found.map(rankedRow);
}

/** By buckets, unless the filter has an index of its own. */
function endsReader(parts: Parts): (asked: Asked) => Promise<Longest> {
  const endsOfAll = parts.db.prepare<[], [string | null, string | null]>(ENDS_OF_ALL).raw();
  return async (asked) => {
    const { query, lowest, end } = asked;
    if (query.text !== undefined || alongOf(query).some(({ along }) => along !== "id")) return readAlong(parts, asked);
    const [first, last] = endsOfAll.get() ?? [null, null];
    if (first === null || last === null) return { ranked: [], scannedToMs: null };
    const [, oldest = first] = [lowest, first].sort();
    const [newest = last] = [end, last].sort();
    return readBuckets(parts, asked, bucketOf(newest), bucketOf(oldest));
  };
}

/** All of the window along an index of the filter's own. */
async function readAlong({ walk, budget }: Parts, asked: Asked): Promise<Longest> {
  const { query, filter, bound, lowest, end } = asked;
  const roads = alongOf(query).map(({ along, bad }) => ({
    sql: endsSql(along, filter),
    bound: { ...bound, lowest, end, ...(bad === undefined ? {} : { bad }) },
    behind: ([id]: Found) => ({ end: id }),
  }));
  const walked = [];
  for (const road of roads) walked.push(await walk(road, { most: budget, budget: budget / roads.length }));
  const floors = walked.flatMap(({ stopped, last }) => (stopped && last !== null ? [instantOf(last)] : []));
  const ranked = walked.flatMap(({ found }) => found.map(rankedRow));
  return { ranked, scannedToMs: floors.length === 0 ? null : Math.max(...floors) };
}

/** From the newest bucket to the oldest; of each only what waited longer than the least of the longest so far. */
async function readBuckets({ walk, budget, breathe }: Parts, asked: Asked, newest: number, oldest: number) {
  const { filter, bound, lowest, end, behind, most } = asked;
  const from = behind === null ? {} : { most: behind.waitMs, last: behind.queued ? LAST_ID : behind.id };
  const all = { ...bound, lowest, end, most: Number.MAX_SAFE_INTEGER, last: LAST_ID, ...from };
  let best: Ranked[] = [];
  let left = budget;
  for (let bucket = newest, n = 1; bucket >= oldest; bucket--, n++) {
    // What waited as long in an older bucket comes later: its ids are lower.
    const least = best.length < most ? -1 : (best.at(-1)?.waitMs ?? -1);
    const road = {
      sql: bucketSql(filter),
      bound: { ...all, bucket: bucketText(bucket), least },
      behind: ([id, , waitMs = 0]: Found) => ({ most: waitMs, last: id }),
    };
    const { found, stopped, looked } = await walk(road, { most, budget: left });
    best = [...best, ...found.map(rankedRow)].sort(longestFirst).slice(0, most);
    left -= looked + BUCKET_ROWS;
    const cut = stopped && found.length < most;
    if (cut || (left <= 0 && bucket > oldest)) {
      return { ranked: best, scannedToMs: (cut ? bucket + 1 : bucket) * BUCKET_MS };
    }
    if (n % BUCKETS_AT_ONCE === 0) await breathe();
  }
  return { ranked: best, scannedToMs: null };
}

/** By the instant of its id, which is the order in which queued jobs are read. */
function queuedRank(id: string, nowMs: number): Ranked {
  return { id, waitMs: nowMs - instantOf(id), queued: true };
}

const rankedRow = ([id, , waitMs = 0]: Found): Ranked => ({ id, waitMs, queued: false });

/** Queued jobs with greater ids come behind it. */
function youngerThan(behind: Ranked | null, nowMs: number): string {
  if (behind === null) return "";
  return behind.queued ? behind.id : jobIdAt(Math.max(0, Math.floor(nowMs - behind.waitMs) + 1));
}

function longestFirst(a: Ranked, b: Ranked): number {
  if (a.waitMs !== b.waitMs) return b.waitMs - a.waitMs;
  if (a.queued !== b.queued) return a.queued ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id === a.queued ? -1 : 1;
}

/** The 48 bits of a UUIDv7 that are its instant. */
export function instantOf(id: string): number {
  return Number.parseInt(id.slice(4, 16), 16);
}

function bucketOf(id: string): number {
  return Math.floor(instantOf(id) / BUCKET_MS);
}
