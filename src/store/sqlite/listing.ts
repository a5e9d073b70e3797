// A caller's jobs, with filters. A filter no index serves is worked
// off in slices, so that a list over a million jobs never holds up a poll.

import type { Database } from "better-sqlite3";
import type { Job } from "../../domain/job.ts";
import type { JobQuery, Page } from "../store.ts";
import { createDecisionListing, type DecisionListing } from "./decision-list.ts";
import { RUNNING, STATUSES, toJob } from "./job-row.ts";
import type { JobRow } from "./schema.ts";

/** Most rows looked at before others get their turn: about 5 ms. */
const SLICE_ROWS = 500;

export interface Listing extends DecisionListing {
  /** @param breathe Awaited between slices. */
  jobs(query: JobQuery, breathe: () => Promise<void>): Promise<Page<Job>>;
}

export function createListing(connection: Database): Listing {
  return {
    ...createDecisionListing(connection),
    async jobs(query, breathe) {
      const found: JobRow[] = [];
      const wanted = filterOf(query);
      let after: string | undefined = query.after;
      for (let rows = query.limit + 1; ; rows *= 2) {
        const most = Math.min(rows, SLICE_ROWS);
        const slice = sliceOf(connection, query, after, most);
        for (const row of slice) if (wanted(row)) found.push(row);
        after = slice.at(-1)?.id;
        if (found.length > query.limit || slice.length < most) break;
        await breathe();
      }
      return { data: found.slice(0, query.limit).map(toJob), hasMore: found.length > query.limit };
    },
  };
}

/** Rows in order along one index; every other filter is applied to them afterwards, so that a slice is bounded. */
export function sliceSql(along: "caller" | "live" | "all", order: JobQuery["order"], after: boolean): string {
  const index = { caller: "INDEXED BY jobs_by_caller", live: "INDEXED BY jobs_live", all: "" }[along];
  const filter = { caller: "caller = @caller", live: "status < 2", all: "1" }[along];
  const newest = order === "newest";
  const from = after ? `AND id ${newest ? "<" : ">"} @after` : "";
  return `SELECT * FROM jobs ${index} WHERE ${filter} ${from} ORDER BY id ${newest ? "DESC" : "ASC"} LIMIT @rows`;
}

function sliceOf(db: Database, query: JobQuery, after: string | undefined, rows: number): JobRow[] {
  const along = query.caller !== null ? "caller" : onlyLive(query) ? "live" : "all";
  const statement = db.prepare<[object], JobRow>(sliceSql(along, query.order, after !== undefined));
  const caller = query.caller === null ? {} : { caller: query.caller };
  return statement.all({ rows, ...caller, ...(after === undefined ? {} : { after }) });
}

function onlyLive(query: JobQuery): boolean {
  return query.status?.every((status) => STATUSES.indexOf(status) <= RUNNING) ?? false;
}

function filterOf({ status, model, metadata }: JobQuery): (row: JobRow) => boolean {
  const pairs = Object.entries(metadata ?? {});
  return (row) => {
    if (status !== undefined && !status.includes(STATUSES[row.status] ?? "queued")) return false;
    if (model !== undefined && row.model !== model) return false;
    if (pairs.length === 0) return true;
    const own = JSON.parse(row.metadata) as Record<string, string>;
    return pairs.every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
  };
}
