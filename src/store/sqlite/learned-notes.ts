// What the engine has learned, as it wrote it down: a note for each key, the newest in place of the one before. Read once,
// at boot.

import type { Database } from "better-sqlite3";
import type { LearnedNote } from "../../domain/journal.ts";
import type { Stamp } from "./job-row.ts";

/** Keys are models, devices and kinds of estimates; of those that nobody writes any more the oldest go. */
const MOST = 1_000;
const WRITE = `
  INSERT INTO learned (key, at_ms, note) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET at_ms = excluded.at_ms, note = excluded.note`;
const TRIM = `
  DELETE FROM learned WHERE key IN (SELECT key FROM learned ORDER BY at_ms DESC, key LIMIT -1 OFFSET ${MOST})`;

export function createLearnedLog(db: Database): (at: Stamp, notes: readonly LearnedNote[]) => void {
  const write = db.prepare(WRITE);
  const trim = db.prepare(TRIM);
  return ({ atMs }, notes) => {
    for (const { key, note } of notes) write.run(key, atMs, JSON.stringify(note));
    trim.run();
  };
}

export function readLearned(db: Database): ReadonlyMap<string, unknown> {
  const rows = db.prepare<[], { key: string; note: string }>("SELECT key, note FROM learned").all();
  return new Map(rows.map(({ key, note }) => [key, JSON.parse(note) as unknown]));
}
