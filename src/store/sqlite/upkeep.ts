// Keeping the WAL and the file small, between commits.

import { statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Upkeep } from "./host.ts";

/** A WAL beyond this is emptied, if no reader stands in the way. */
export const WAL_LIMIT_BYTES = 67_108_864;
/** Pages given back to the file system each time. */
const VACUUM_PAGES = 256;

interface Checkpoint {
  readonly busy: number;
}

export function createUpkeep(db: Database): () => Upkeep {
  const walBytes = (): number => (db.memory ? 0 : (statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0));
  const checkpoint = (mode: "PASSIVE" | "TRUNCATE"): boolean => {
    const [row] = db.pragma(`wal_checkpoint(${mode})`) as Checkpoint[];
    return row?.busy === 1;
  };
  return () => {
    if (db.memory) return { walBytes: 0, busy: false };
    let busy = checkpoint("PASSIVE");
    if (walBytes() > WAL_LIMIT_BYTES) busy = truncate(db, () => checkpoint("TRUNCATE"));
    db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
    return { walBytes: walBytes(), busy };
  };
}

/** At the end: leaves no WAL behind, unless a reader still holds it. */
export function checkpointAll(db: Database): void {
  if (db.memory) return;
  truncate(db, () => db.pragma("wal_checkpoint(TRUNCATE)") !== null);
}

/** TRUNCATE waits for readers as long as busy_timeout says, with the thread blocked: so it may not wait at all. */
function truncate(db: Database, checkpoint: () => boolean): boolean {
  const timeoutMs = db.pragma("busy_timeout", { simple: true });
  db.pragma("busy_timeout = 0");
  try {
    return checkpoint();
  } finally {
    db.pragma(`busy_timeout = ${timeoutMs}`);
  }
}
