// Lists of decisions, newest first: along the index of the most telling filter, slice by slice, with a bound on how many
// are looked at for one page.

import type { Database, Statement } from "better-sqlite3";
import type { Decision } from "../../domain/decision.ts";
import type { DecisionId } from "../../domain/ids.ts";
import type { DecisionPage, DecisionQuery } from "../store.ts";
import { JOB_SUBJECT, MODEL_SUBJECT } from "./journal.ts";
import { toDecision } from "./reads.ts";
import type { DecisionRow } from "./schema.ts";

const SLICE_ROWS = 500;
const SCAN_ROWS = 20_000;
/** Behind every id. */
const END = "dec_g";

export type DecisionsAlong = "job" | "reason" | "kind" | "model" | "device" | "all";

const OF_JOB = `
  (SELECT id FROM decision_subjects WHERE kind = ${JOB_SUBJECT} AND subject = @job
   UNION SELECT decision FROM jobs WHERE id = @job AND decision IS NOT NULL)`;
const OF_MODEL = `(SELECT 1 FROM decision_subjects WHERE kind = ${MODEL_SUBJECT} AND subject = @model AND id = decisions.id)`;

/** The decision a job was dispatched under names only the heads of queues, so the job's own row adds it. */
const DRIVERS: Readonly<Record<DecisionsAlong, string>> = {
  job: `decisions WHERE id IN ${OF_JOB}`,
  reason: "decisions INDEXED BY decisions_by_reason WHERE reason = @reason",
  kind: "decisions INDEXED BY decisions_by_kind WHERE kind = @kind",
  model: `decision_subjects AS subjects CROSS JOIN decisions ON decisions.id = subjects.id
    WHERE subjects.kind = ${MODEL_SUBJECT} AND subjects.subject = @model`,
  device: "decisions INDEXED BY decisions_by_device WHERE device = @device",
  all: "decisions WHERE 1",
};

/** Ids with whether each matches. */
export function decisionsSql(along: DecisionsAlong, filter: string): string {
  const id = along === "model" ? "subjects.id" : "id";
  return `SELECT ${id}, ${filter} FROM ${DRIVERS[along]} AND ${id} < @end ORDER BY ${id} DESC LIMIT @rows`;
}

type Bound = Readonly<Record<string, string | number>>;
type Found = readonly [id: string, matches: number];

export interface DecisionListing {
  /** @param breathe Awaited between slices. */
  decisions(query: DecisionQuery, breathe: () => Promise<void>): Promise<DecisionPage>;
}

export function createDecisionListing(db: Database): DecisionListing {
  const statements = new Map<string, Statement<[Bound], Found>>();
  const prepared = (sql: string): Statement<[Bound], Found> => {
    const known = statements.get(sql) ?? (db.prepare<[Bound], Found>(sql).raw() as Statement<[Bound], Found>);
    statements.set(sql, known);
    return known;
  };
  const row = db.prepare<[string], DecisionRow>("SELECT detail, times, last_ms, trail FROM decisions WHERE id = ?");
  const load = (id: string): Decision[] => {
    const found = row.get(id);
    return found === undefined ? [] : [toDecision(found)];
  };

  return {
    async decisions(query, breathe) {
      const { along, filter, bound } = planOf(query);
      const statement = prepared(decisionsSql(along, filter));
      const kinds = along === "kind" ? [...new Set(query.kinds)] : [null];
      const ids: string[] = [];
      let floor = "";
      for (const kind of kinds) {
        let end = endOf(query);
        let matches = 0;
        for (let looked = 0, rows = Math.min(SLICE_ROWS, query.limit + 1); ; rows = SLICE_ROWS) {
          const slice = statement.all({ ...bound, ...(kind === null ? {} : { kind }), end, rows });
          for (const [id, hit] of slice) if (hit === 1 && ++matches > 0) ids.push(id);
          looked += slice.length;
          end = slice.at(-1)?.[0] ?? end;
          if (slice.length < rows) break;
          if (matches > query.limit || looked >= SCAN_ROWS / kinds.length) {
            // Behind here this kind may have more: another's older ones would come too early.
            floor = end > floor ? end : floor;
            break;
          }
          await breathe();
        }
      }
      const sure = [...new Set(ids)].filter((id) => id >= floor).sort((a, b) => (a < b ? 1 : -1));
      const page = sure.slice(0, query.limit);
      const full = sure.length > query.limit;
      const last = full ? (page.at(-1) ?? null) : floor || (page.at(-1) ?? null);
      return { data: page.flatMap(load), hasMore: full || floor !== "", last: last as DecisionId | null };
    },
  };
}

function endOf({ after, before }: DecisionQuery): string {
  const ends = [END, after ?? END, before ?? END].sort();
  return ends[0] ?? END;
}

function planOf(query: DecisionQuery): { along: DecisionsAlong; filter: string; bound: Bound } {
  const { job, reason, kinds, model, device } = query;
  const conditions: string[] = [];
  if (job !== undefined) conditions.push(`decisions.id IN ${OF_JOB}`);
  if (reason !== undefined) conditions.push("decisions.reason = @reason");
  if (kinds !== undefined) conditions.push("decisions.kind IN (SELECT value FROM json_each(@kinds))");
  if (device !== undefined) conditions.push("decisions.device = @device");
  if (model !== undefined) conditions.push(`EXISTS ${OF_MODEL}`);
  return {
    along: alongOf(query),
    filter: conditions.length === 0 ? "1" : conditions.join(" AND "),
    bound: {
      ...(job === undefined ? {} : { job }),
      ...(reason === undefined ? {} : { reason }),
      ...(kinds === undefined ? {} : { kinds: JSON.stringify(kinds) }),
      ...(device === undefined ? {} : { device }),
      ...(model === undefined ? {} : { model }),
    },
  };
}

function alongOf({ job, reason, kinds, model, device }: DecisionQuery): DecisionsAlong {
  if (job !== undefined) return "job";
  if (reason !== undefined) return "reason";
  if (kinds !== undefined) return "kind";
  if (model !== undefined) return "model";
  return device === undefined ? "all" : "device";
}
