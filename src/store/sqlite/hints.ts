// Hints and session starts in SQLite. Both are few: hints are bounded when they are made, starts to the last of a model.

import type { Database } from "better-sqlite3";
import type { Hint } from "../../domain/hint.ts";
import type { CallerId, HintId, ModelName } from "../../domain/ids.ts";
import type { SessionStart } from "../../domain/journal.ts";
import type { HintLimits, HintVerbs } from "../hint-verbs.ts";
import type { Stamp } from "./job-row.ts";
import { readLearned } from "./learned-notes.ts";
import type { Outbox } from "./outbox.ts";

const SESSIONS_KEPT = 64;

const INSERT = `
  INSERT INTO hints (id, caller, model, created_wall_ms, at_wall_ms, until_wall_ms, repeat, jobs, priority, last)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const COUNT = "SELECT count(*) AS all_hints, coalesce(sum(caller = ?), 0) AS own FROM hints";
const INSERT_SESSION = `
  INSERT INTO sessions (model, started_ms, weight) VALUES (?, ?, ?)
  ON CONFLICT (model, started_ms) DO UPDATE SET weight = excluded.weight`;
const TRIM_SESSIONS = `
  DELETE FROM sessions WHERE model = @model AND started_ms <=
    (SELECT started_ms FROM sessions WHERE model = @model ORDER BY started_ms DESC LIMIT 1 OFFSET ${SESSIONS_KEPT})`;

interface HintRow {
  id: string;
  caller: string;
  model: string;
  created_wall_ms: number;
  at_wall_ms: number;
  until_wall_ms: number | null;
  repeat: string | null;
  jobs: number | null;
  priority: number;
  last: string | null;
}

type Noted = Pick<Hint, "id" | "last" | "atMs" | "untilMs">;

export interface Hinting {
  addHint(at: Stamp, hint: Hint, limits: HintLimits): "added" | "too_many";
  removeHint(at: Stamp, id: HintId): boolean;
  noteHint(at: Stamp, hint: Noted): void;
}

export function createHinting(db: Database): Hinting {
  const insert = db.prepare(INSERT);
  const count = db.prepare<[string], { all_hints: number; own: number }>(COUNT);
  const drop = db.prepare("DELETE FROM hints WHERE id = ?");
  const note = db.prepare("UPDATE hints SET last = ?, at_wall_ms = ?, until_wall_ms = ? WHERE id = ?");
  return {
    addHint(_at, hint, limits) {
      const { all_hints = 0, own = 0 } = count.get(hint.caller) ?? {};
      if (own >= limits.ofCaller || all_hints >= limits.ofAll) return "too_many";
      const { id, caller, model, createdAtMs, atMs, untilMs, repeat, jobs, priority, last } = hint;
      insert.run(id, caller, model, createdAtMs, atMs, untilMs, repeat, jobs, priority, last);
      return "added";
    },
    removeHint: (_at, id) => drop.run(id).changes === 1,
    noteHint(_at, { id, last, atMs, untilMs }) {
      note.run(last, atMs, untilMs, id);
    },
  };
}

/** Writes a start, or its weight once that is known; the oldest beyond the last 64 go. */
export function createSessionLog(db: Database): (session: SessionStart) => void {
  const insert = db.prepare(INSERT_SESSION);
  const trim = db.prepare(TRIM_SESSIONS);
  return ({ model, startedAtMs, weight }) => {
    insert.run(model, startedAtMs, weight);
    trim.run({ model });
  };
}

/** @param read Runs a read as the store does. */
export function createHintVerbs(
  db: Database,
  outbox: Outbox,
  read: <Value>(act: () => Value) => Promise<Value>,
): HintVerbs {
  const all = db.prepare<[{ caller: string | null }], HintRow>(
    "SELECT * FROM hints WHERE @caller IS NULL OR caller = @caller ORDER BY id",
  );
  const sessions = db.prepare<[], { model: string; started_ms: number; weight: number }>(
    "SELECT model, started_ms, weight FROM sessions ORDER BY started_ms",
  );
  return {
    learned: () => read(() => readLearned(db)),
    add: (hint, limits) => outbox.call("addHint", [hint, limits]),
    remove: (id) => outbox.call("removeHint", [id]),
    note: ({ id, last, atMs, untilMs }) => outbox.call("noteHint", [{ id, last, atMs, untilMs }]),
    all: (caller) => read(() => all.all({ caller }).map(toHint)),
    sessions: () =>
      read(() =>
        sessions
          .all()
          .map(({ model, started_ms, weight }) => ({ model: model as ModelName, startedAtMs: started_ms, weight })),
      ),
  };
}

function toHint(row: HintRow): Hint {
  return {
    id: row.id as HintId,
    caller: row.caller as CallerId,
    model: row.model as ModelName,
    createdAtMs: row.created_wall_ms,
    atMs: row.at_wall_ms,
    untilMs: row.until_wall_ms,
    repeat: row.repeat as Hint["repeat"],
    jobs: row.jobs,
    priority: row.priority,
    last: row.last as Hint["last"],
  };
}
