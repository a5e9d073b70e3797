// The log about one model, on any connection that can read: along an index, within bounds, no cursor left open.

import type { Database } from "better-sqlite3";
import { type DecisionId, type DeviceId, decisionIdAt } from "../../domain/ids.ts";
import type { DecisionSketch, ModelLog } from "../model-log.ts";
import { MODEL_SUBJECT } from "./journal.ts";
import { toLoad } from "./reads.ts";
import type { LoadRow } from "./schema.ts";

export const LOADS_OF = `
  SELECT * FROM loads INDEXED BY loads_by_time
  WHERE ended_ms >= @fromMs AND ended_ms <= @toMs AND model = @model ORDER BY ended_ms, seq LIMIT @limit`;
// Ids begin with their instant, so the subjects' index is one of time as well.
export const DECISIONS_OF = `
  SELECT decisions.id, at_ms, decisions.kind, reason, device FROM decision_subjects
  JOIN decisions ON decisions.id = decision_subjects.id
  WHERE decision_subjects.kind = ${MODEL_SUBJECT} AND subject = @model
    AND decision_subjects.id >= @after AND decision_subjects.id < @end
  ORDER BY decision_subjects.id DESC LIMIT @limit`;

type SketchRow = Record<"id" | "kind" | "reason" | "device", string> & { readonly at_ms: number };

export function createModelLog(db: Database): ModelLog {
  const loads = db.prepare<[object], LoadRow>(LOADS_OF);
  const decisions = db.prepare<[object], SketchRow>(DECISIONS_OF);
  return {
    loads: async (model, fromMs, toMs, limit) => loads.all({ model, fromMs, toMs, limit }).map(toLoad),
    async decisions(model, fromMs, toMs, limit) {
      const range = { after: decisionIdAt(fromMs), end: decisionIdAt(Math.floor(toMs) + 1) };
      return decisions.all({ model, ...range, limit }).map(toSketch);
    },
  };
}

function toSketch(row: SketchRow): DecisionSketch {
  return {
    id: row.id as DecisionId,
    atMs: row.at_ms,
    kind: row.kind as DecisionSketch["kind"],
    reason: row.reason as DecisionSketch["reason"],
    device: row.device as DeviceId,
  };
}
