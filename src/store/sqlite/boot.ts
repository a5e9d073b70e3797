// A router's entry in the store: when it started, how the one before ended, and up to when router time was used.

import type { Database } from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";

export interface Boot {
  /** The highest router time ever stored: the clock must not start before it. */
  readonly lastStampMs: number;
  /** Whether the router before ended in good order; true for a new database. */
  readonly cleanShutdown: boolean;
}

/** How the last router ended, without writing anything. True for an empty database. */
export function endedClean(db: Database): boolean {
  const exists = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'boots'").get() !== undefined;
  if (!exists) return true;
  return db.prepare<[], number>("SELECT clean FROM boots ORDER BY seq DESC LIMIT 1").pluck().get() !== 0;
}

export function registerBoot(db: Database, owner: OwnerId, nowMs: number): Boot {
  const cleanShutdown = endedClean(db);
  const register = db.transaction((): number => {
    const stampMs = db.prepare<[], number>("SELECT stamp_ms FROM usage WHERE id = 1").pluck().get() ?? 0;
    const startMs = Math.max(nowMs, stampMs);
    db.prepare(
      "UPDATE boots SET alive_ms = max(alive_ms, ?) WHERE seq = (SELECT max(seq) FROM boots) AND clean = 0",
    ).run(stampMs);
    // Nobody watched queues and devices from there on.
    for (const table of ["waits", "spans"]) {
      db.prepare(`UPDATE ${table} SET to_ms = max(from_ms, ?) WHERE to_ms IS NULL`).run(stampMs);
    }
    db.prepare("INSERT INTO boots (owner, started_ms, alive_ms) VALUES (?, ?, ?)").run(owner, startMs, startMs);
    db.prepare("UPDATE usage SET stamp_ms = ? WHERE id = 1").run(startMs);
    return stampMs;
  });
  return { lastStampMs: register.immediate(), cleanShutdown };
}

/** When the last router gave its last sign; null: there was none. */
export function lastSignMs(db: Database): number | null {
  const sql = `
    SELECT CASE clean WHEN 1 THEN alive_ms ELSE max(alive_ms, (SELECT stamp_ms FROM usage WHERE id = 1)) END
    FROM boots ORDER BY seq DESC LIMIT 1`;
  return db.prepare<[], number>(sql).pluck().get() ?? null;
}
