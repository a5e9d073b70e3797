// Bringing the schema up to date at start. The lock is taken first and the decision made inside it, so that starters at
// one time cannot apply a step twice; foreign keys are off outside the transaction, since inside it the pragma does
// nothing and a rebuilt table would take its child rows along.

import type { Database } from "better-sqlite3";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { StoreOpenError } from "../open-error.ts";

const TABLE = `CREATE TABLE IF NOT EXISTS __drizzle_migrations (
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at INTEGER NOT NULL)`;

export interface MigrationState {
  readonly applied: number;
  readonly pending: number;
}

/** @throws {StoreOpenError} when the database was made by a newer version. */
export function inspectSchema(db: Database, folder: string, version = "this one"): MigrationState {
  const known = readMigrationFiles({ migrationsFolder: folder });
  const exists = db.prepare("SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'").get() !== undefined;
  const done = exists ? doneIn(db) : new Set<string>();
  const hashes = new Set(known.map((step) => step.hash));
  const strange = [...done].filter((hash) => !hashes.has(hash));
  if (strange.length > 0) {
    throw new StoreOpenError(
      "newer_schema",
      `this database was written by a newer version of sir, ${writtenBy(db)}, and this is ${version}: ${strange.length} of its schema steps are unknown here`,
      "run the version that wrote it, or restore the copy that was made before the upgrade",
    );
  }
  return { applied: done.size, pending: known.filter((step) => !done.has(step.hash)).length };
}

/** Applies what is missing, in one transaction. Returns how many steps. */
export function migrate(db: Database, folder: string): number {
  const foreignKeys = db.pragma("foreign_keys", { simple: true });
  db.pragma("foreign_keys = OFF");
  try {
    db.exec("BEGIN IMMEDIATE");
    try {
      const count = applyPending(db, folder);
      db.exec("COMMIT");
      return count;
    } catch (error) {
      if (db.inTransaction) db.exec("ROLLBACK");
      throw error;
    }
  } finally {
    db.pragma(`foreign_keys = ${foreignKeys}`);
  }
}

function applyPending(db: Database, folder: string): number {
  db.exec(TABLE);
  inspectSchema(db, folder);
  const done = doneIn(db);
  const note = db.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)");
  let count = 0;
  for (const step of readMigrationFiles({ migrationsFolder: folder })) {
    if (done.has(step.hash)) continue;
    for (const sql of step.sql) if (!/^\s*PRAGMA\s+foreign_keys/i.test(sql)) db.exec(sql);
    note.run(step.hash, step.folderMillis);
    count++;
  }
  const bad = db.pragma("foreign_key_check") as unknown[];
  if (bad.length > 0) throw new Error(`foreign_key_check found ${bad.length} rows without their parent`);
  return count;
}

/** The version that had the database open last. */
function writtenBy(db: Database): string {
  const unsaid = "which did not say its number";
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'meta'").get() === undefined) return unsaid;
  return db.prepare<[], string>("SELECT value FROM meta WHERE key = 'version'").pluck().get() ?? unsaid;
}

export function noteVersion(db: Database, version: string): void {
  const write =
    "INSERT INTO meta (key, value) VALUES ('version', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
  db.prepare(write).run(version);
}

function doneIn(db: Database): Set<string> {
  return new Set(db.prepare<[], string>("SELECT hash FROM __drizzle_migrations").pluck().all());
}
