// Removing bodies and answers: when their time is over, when they were read and room is short, or on request.
// The job's row stays as a tombstone, so that a caller hears "expired" and not "never heard of it".

import type { Database } from "better-sqlite3";
import { isSlice } from "../spool.ts";
import type { CoreSettings } from "./core.ts";
import type { Ledger } from "./ledger.ts";

/** One transaction removes no more than this, so that nobody waits long behind it. */
export const PURGE_BATCH = 500;

export const EVICTABLE = `
  SELECT seq FROM jobs INDEXED BY jobs_evictable WHERE evictable_ms IS NOT NULL ORDER BY evictable_ms LIMIT ?`;
export const DUE = `
  SELECT seq FROM jobs INDEXED BY jobs_due
  WHERE purge_after_ms IS NOT NULL AND purged_ms IS NULL AND purge_after_ms <= ? ORDER BY purge_after_ms LIMIT ?`;

export interface Purger {
  /** Removes the bytes of one final job. */
  purge(seq: number, atMs: number): void;
  /** Makes room for `sizeBytes` more by removing what was read, oldest first. False: there is no room without more. */
  makeRoom(atMs: number, sizeBytes: number): boolean;
  /** Removes what has outlived its time; returns how many. */
  purgeDue(atMs: number): number;
  /** Whether anything could be removed to make room. */
  evictableLeft(): boolean;
}

/** @param discarded Collects the URIs of files that are to be removed once the transaction is committed. */
export function createPurger(db: Database, settings: CoreSettings, ledger: Ledger, discarded: string[]): Purger {
  const drops = ["bodies", "results"].map((table) =>
    db.prepare<[number], { size: number; location: string | null }>(
      `DELETE FROM ${table} WHERE job = ? RETURNING size, location`,
    ),
  );
  const mark = db.prepare("UPDATE jobs SET purged_ms = ?, evictable_ms = NULL WHERE seq = ? AND purged_ms IS NULL");
  const evictable = db.prepare<[number], number>(EVICTABLE).pluck();
  const due = db.prepare<[number, number], number>(DUE).pluck();

  const purge = (seq: number, atMs: number): void => {
    for (const drop of drops) {
      const gone = drop.get(seq);
      if (gone === undefined) continue;
      // A slice of a file is the file's, not the job's.
      if (isSlice(gone.location)) continue;
      ledger.bytesBy(-gone.size);
      if (gone.location !== null) discarded.push(gone.location);
    }
    mark.run(atMs, seq);
  };

  return {
    purge,
    evictableLeft: () => evictable.get(1) !== undefined,
    makeRoom(atMs, sizeBytes) {
      const limit = settings.maxStoredBytes - sizeBytes;
      if (ledger.bytes <= limit) return true;
      // A body that can never fit must not cost others their answers.
      if (limit < 0) return false;
      for (let left = PURGE_BATCH; left > 0; left--) {
        const seq = evictable.get(1);
        if (seq === undefined) return false;
        purge(seq, atMs);
        if (ledger.bytes <= limit) return true;
      }
      return false;
    },
    purgeDue(atMs) {
      const seqs = due.all(atMs, PURGE_BATCH);
      for (const seq of seqs) purge(seq, atMs);
      return seqs.length;
    },
  };
}
