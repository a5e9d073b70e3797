// One process owns a data directory. The lock is an exclusive transaction on a SQLite file of its own: free at once
// after kill -9, and taken before the database itself is touched.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { StoreOpenError } from "../open-error.ts";
import { codeOf } from "./batch.ts";

export interface Lock {
  release(): void;
}

/** @throws {StoreOpenError} at once when another router holds the directory; nothing else was touched then. */
export function takeLock(directory: string, owner: string): Lock {
  const path = join(directory, "router.lock");
  const holder = join(directory, "router.pid");
  let db: Database.Database | null = null;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    db = new Database(path, { timeout: 0 });
    db.exec("BEGIN EXCLUSIVE");
    // A file of its own, because nobody can read a locked one. It only names the holder; it locks nothing.
    writeFileSync(holder, `${process.pid} ${owner}\n`);
  } catch (error) {
    db?.close();
    if (codeOf(error).startsWith("SQLITE_BUSY")) throw taken(directory, holder);
    throw unusable(directory, error);
  }
  const held = db;
  return {
    release() {
      rmSync(holder, { force: true });
      held.close();
    },
  };
}

/** Whether a router holds the directory now; touches nothing. */
export function isHeld(directory: string): boolean {
  const path = join(directory, "router.lock");
  if (!existsSync(path)) return false;
  let db: Database.Database | null = null;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
    db.prepare("SELECT 1 FROM sqlite_master").get();
    return false;
  } catch (error) {
    if (codeOf(error).startsWith("SQLITE_BUSY")) return true;
    throw unusable(directory, error);
  } finally {
    db?.close();
  }
}

function taken(directory: string, holder: string): StoreOpenError {
  const [pid = "unknown", boot = "unknown"] = wordsIn(holder);
  return new StoreOpenError(
    "locked",
    `another router holds ${directory}: process ${pid}, ${boot}`,
    "stop it first, or give this one a directory of its own with SIR_STORE or --store",
  );
}

function wordsIn(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trim().split(" ");
  } catch {
    return [];
  }
}

/** The directory, or a file in it, cannot be made or written. */
export function unusable(directory: string, error: unknown): StoreOpenError {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_FULL") {
    return new StoreOpenError("full", `the disk under ${directory} is full`, "free some space and start again", error);
  }
  return new StoreOpenError(
    "not_writable",
    `${directory} cannot be written: ${code}`,
    "make it writable for this user, or choose another directory with SIR_STORE or --store",
    error,
  );
}
