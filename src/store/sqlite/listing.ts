// Lists for people and their tools: jobs with filters, decisions by model or job. A filter no index serves is worked
// off in slices, so that a list over a million jobs never holds up a poll.

import type { Database } from "better-sqlite3";
import { and, desc, eq, inArray, lt, type SQL, sql } from "drizzle-orm";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { Decision } from "../../domain/decision.ts";
import type { Job } from "../../domain/job.ts";
import type { DecisionQuery, JobQuery, Page } from "../store.ts";
import { RUNNING, STATUSES, toJob } from "./job-row.ts";
import { JOB_SUBJECT, MODEL_SUBJECT } from "./journal.ts";
import { toDecision } from "./reads.ts";
import { type DecisionRow, decisionSubjects, decisions, type JobRow } from "./schema.ts";

/** Most rows looked at before others get their turn: about 5 ms. */
const SLICE_ROWS = 500;

export interface Listing {
  /** @param breathe Awaited between slices. */
  jobs(query: JobQuery, breathe: () => Promise<void>): Promise<Page<Job>>;
  decisions(query: DecisionQuery): Page<Decision>;
}

export function createListing(connection: Database): Listing {
  const db = drizzle(connection);
  return {
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
    decisions(query) {
      const rows =
        query.job === undefined && query.model !== undefined ? aboutModel(db, query, query.model) : all(db, query);
      const data = rows.slice(0, query.limit).map(toDecision);
      return { data, hasMore: rows.length > query.limit };
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

const { detail, times, last_ms, trail } = decisions;
const LOOKED_AT = { detail, times, last_ms, trail };

/** Driven by the subjects' index: it reads no decision about other models. */
function aboutModel(db: BetterSQLite3Database, { after, limit }: DecisionQuery, model: string): DecisionRow[] {
  const { kind, subject, id } = decisionSubjects;
  return db
    .select(LOOKED_AT)
    .from(decisionSubjects)
    .innerJoin(decisions, eq(decisions.id, id))
    .where(and(eq(kind, MODEL_SUBJECT), eq(subject, model), after === undefined ? undefined : lt(id, after)))
    .orderBy(desc(id))
    .limit(limit + 1)
    .all();
}

function all(db: BetterSQLite3Database, { after, model, job, limit }: DecisionQuery): DecisionRow[] {
  const wanted: SQL[] = [];
  if (after !== undefined) wanted.push(lt(decisions.id, after));
  if (model !== undefined) wanted.push(inArray(decisions.id, about(MODEL_SUBJECT, model)));
  if (job !== undefined) {
    // The decision a job was dispatched under names only the heads of queues, so the job's own row adds it.
    wanted.push(sql`(${inArray(decisions.id, about(JOB_SUBJECT, job))}
      OR ${decisions.id} = (SELECT decision FROM jobs WHERE id = ${job}))`);
  }
  return db
    .select(LOOKED_AT)
    .from(decisions)
    .where(and(...wanted))
    .orderBy(desc(decisions.id))
    .limit(limit + 1)
    .all();
}

function about(kind: number, subject: string): SQL {
  return sql`(SELECT ${decisionSubjects.id} FROM ${decisionSubjects}
    WHERE ${decisionSubjects.kind} = ${kind} AND ${decisionSubjects.subject} = ${subject})`;
}
