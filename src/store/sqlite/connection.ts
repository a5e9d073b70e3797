// Connections and their pragmas, read back: better-sqlite3 is compiled so that WAL means NORMAL, which loses
// acknowledged jobs in a power cut, and the pragma may claim FULL until the first write.

import Database from "better-sqlite3";
import { StoreOpenError } from "../open-error.ts";

/** The WAL-reset race of earlier versions can corrupt a database with two connections, which is what we have. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const WRITER_BUSY_MS = 2_000;
const READER_BUSY_MS = 200;
const FULL = 2;

/** @param synchronous FULL, but for the test that shows why. */
export function prepareWriter(db: Database.Database, synchronous = "FULL"): void {
  const isNew = db.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() === undefined;
  // Takes effect only before the first table, and writes to the file each time.
  if (isNew) db.pragma("auto_vacuum = INCREMENTAL");
  if (!db.memory) db.pragma("journal_mode = WAL");
  db.pragma(`synchronous = ${synchronous}`);
  db.pragma(`busy_timeout = ${WRITER_BUSY_MS}`);
  db.pragma("foreign_keys = ON");
  db.pragma("cache_size = -64000");
  db.pragma("temp_store = MEMORY");
  db.pragma("journal_size_limit = 67108864");
  db.pragma("wal_autocheckpoint = 1000");
  db.pragma("trusted_schema = OFF");
}

/** To be called after the first write. @throws {StoreOpenError} when a commit would not reach the disk. */
export function assertDurable(db: Database.Database): void {
  if (db.memory) return;
  const synchronous = db.pragma("synchronous", { simple: true });
  const journal = db.pragma("journal_mode", { simple: true });
  if (synchronous === FULL && journal === "wal") return;
  throw new StoreOpenError(
    "not_durable",
    `the database would not keep its promises: synchronous is ${synchronous} (must be ${FULL}), journal_mode ${journal} (must be wal)`,
    "remove what sets these pragmas otherwise, or put the data on a local file system",
  );
}

export function openReader(path: string): Database.Database {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: READER_BUSY_MS });
  db.pragma("temp_store = MEMORY");
  db.pragma("trusted_schema = OFF");
  return db;
}

/** @throws {StoreOpenError} */
export function assertVersion(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [i, least] of OLDEST_SQLITE.entries()) {
    const part = parts[i] ?? 0;
    if (part > least) return;
    if (part < least) {
      throw new StoreOpenError(
        "old_sqlite",
        `SQLite ${version} can corrupt a database that is read and written at once; ${OLDEST_SQLITE.join(".")} is the oldest that cannot`,
        "install the better-sqlite3 of package-lock.json",
      );
    }
  }
}

export function versionOf(db: Database.Database): string {
  return db.prepare<[], string>("SELECT sqlite_version()").pluck().get() ?? "unknown";
}
