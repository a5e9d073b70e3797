// Everything between the lock and a database that may be used: integrity, version, a copy before the schema changes,
// the changes themselves. Done once, on a connection of its own, before the writer starts.

import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";
import { StoreOpenError } from "../open-error.ts";
import { spooledIn } from "./back-up.ts";
import { codeOf } from "./batch.ts";
import { type Boot, endedClean, registerBoot } from "./boot.ts";
import { assertDurable, assertVersion, prepareWriter, versionOf } from "./connection.ts";
import { inspectSchema, migrate, noteVersion } from "./migrate.ts";

export interface Prepared extends Boot {
  /** URIs of spooled bodies that a row refers to. */
  readonly spooled: ReadonlySet<string>;
}

/** @throws {StoreOpenError} */
export function prepareDatabase(
  path: string,
  owner: OwnerId,
  nowMs: number,
  migrations: string,
  version?: string,
): Prepared {
  let db: Database.Database | null = null;
  try {
    db = new Database(path);
    assertVersion(versionOf(db));
    // Only looks, so that what is refused is left as it was.
    const { applied, pending } = inspectSchema(db, migrations, version);
    if (!endedClean(db)) assertIntact(db, path);
    prepareWriter(db);
    if (applied > 0 && pending > 0) copyAside(db, `${path}.before-${pending + applied}-steps`);
    migrate(db, migrations);
    const boot = registerBoot(db, owner, nowMs);
    if (version !== undefined) noteVersion(db, version);
    assertDurable(db);
    return { ...boot, spooled: new Set(spooledIn(db)) };
  } catch (error) {
    throw explain(path, error);
  } finally {
    db?.close();
  }
}

function assertIntact(db: Database.Database, path: string): void {
  const found = db.pragma("quick_check(1)", { simple: true });
  if (found !== "ok") throw corrupt(path, String(found));
}

/** What the old version can go back to. An earlier copy of the same step is kept: it is the older one. */
function copyAside(db: Database.Database, path: string): void {
  if (existsSync(path)) return;
  db.prepare("VACUUM INTO ?").run(path);
}

function corrupt(path: string, detail: string, cause?: unknown): StoreOpenError {
  return new StoreOpenError(
    "corrupt",
    `${path} is damaged: ${detail}`,
    "restore a backup (sir backup made it), or move the file away to start with an empty store",
    cause,
  );
}

/** Any failure to open, as one that says what to do. */
export function explain(path: string, error: unknown): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code.startsWith("SQLITE_CORRUPT")) return corrupt(path, message, error);
  if (code === "SQLITE_NOTADB") {
    const mend = "give another path with SIR_STORE or --store, or move this file away";
    return new StoreOpenError("not_a_database", `${path} is not a SQLite database`, mend, error);
  }
  if (code === "SQLITE_FULL") {
    return new StoreOpenError("full", `the disk under ${path} is full`, "free some space and start again", error);
  }
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM|AUTH)/.test(code)) {
    const mend = "make the file and its directory writable for this user";
    return new StoreOpenError("not_writable", `${path} cannot be opened for writing: ${code}`, mend, error);
  }
  const mend = "see the cause; the database was left as it was";
  return new StoreOpenError("failed", `${path} could not be opened: ${message}`, mend, error);
}
