// A copy of a store's file made from outside its router, which goes on: one reading transaction sees one instant, and
// in WAL mode a reader holds up no writer. Only the log grows meanwhile.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import { StoreOpenError } from "../open-error.ts";
import { copySpooled, spooledIn } from "./back-up.ts";
import { codeOf } from "./batch.ts";
import { openReader } from "./connection.ts";
import { explain } from "./start-up.ts";

export interface Snapshot {
  readonly path: string;
  /** Of the database and the bodies beside it. */
  readonly bytes: number;
  readonly jobs: number;
  /** Bodies that lie beside it as files. */
  readonly spooled: number;
  /** Null: it was not looked at. */
  readonly ok: boolean | null;
}

/**
 * Complete and on the disk, or not there. Its readers' rights are the owner's alone: it holds every prompt and answer.
 * @throws {StoreOpenError} where there is no store, or the copy exists already
 */
export async function takeSnapshot(from: string, to: string, verify: boolean): Promise<Snapshot> {
  if (existsSync(to)) {
    throw new StoreOpenError("exists", `${to} exists already`, "name another file with --to, or move it away");
  }
  if (!existsSync(from)) {
    throw new StoreOpenError("missing", `there is no store at ${from}`, "name the router's store with --store");
  }
  const partial = `${to}.${process.pid}.partial`;
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    copyDatabase(from, partial);
    await copySpooled(dirname(from), partial);
    const found = inspect(partial, verify);
    if (found.ok === false) {
      throw new StoreOpenError("corrupt", "the copy is not sound, so the store may be damaged", "run sir doctor");
    }
    sync(partial);
    renameSync(partial, to);
    sync(dirname(to));
    return { path: to, ...found };
  } catch (error) {
    removePartial(partial);
    throw atTarget(to, error);
  }
}

function copyDatabase(from: string, to: string): void {
  let db: Database | null = null;
  try {
    db = openReader(from);
    if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").get() === undefined) {
      throw new StoreOpenError("not_a_database", `${from} is no router's store`, "name it with --store");
    }
  } catch (error) {
    db?.close();
    throw error instanceof StoreOpenError ? error : explain(from, error);
  }
  try {
    db.prepare("VACUUM INTO ?").run(to);
    chmodSync(to, 0o600);
  } catch (error) {
    throw codeOf(error).startsWith("SQLITE_CORRUPT") ? explain(from, error) : error;
  } finally {
    db.close();
  }
}

/** What goes wrong while a copy is written, the store being readable, lies where it is written. */
function atTarget(to: string, error: unknown): unknown {
  if (error instanceof StoreOpenError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (["SQLITE_FULL", "ENOSPC", "EDQUOT"].includes(code)) {
    const mend = "free some space there, or name another place with --to";
    return new StoreOpenError("full", `the disk under ${dirname(to)} is full; nothing was left there`, mend, error);
  }
  if (!/^(SQLITE_(CANTOPEN|READONLY|IOERR|PERM)|E[A-Z]+$)/.test(code)) return error;
  const text = `${to} cannot be written: ${error.message}`;
  return new StoreOpenError("not_writable", text, "name another place with --to", error);
}

/** A folder that could not be made cannot be cleared either. */
function removePartial(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Then nothing was written there.
  }
}

function inspect(path: string, verify: boolean): Omit<Snapshot, "path"> {
  const db = openReader(path);
  try {
    const files = spooledIn(db).map((uri) => join(dirname(path), uri.slice("file:".length)));
    const kept = files.filter((file) => existsSync(file));
    const bytes = [path, ...kept].reduce((all, file) => all + statSync(file).size, 0);
    const jobs = db.prepare<[], number>("SELECT count(*) FROM jobs").pluck().get() ?? 0;
    return { bytes, jobs, spooled: kept.length, ok: verify ? isSound(db) : null };
  } finally {
    db.close();
  }
}

function isSound(db: Database): boolean {
  const found = db.pragma("integrity_check(1)", { simple: true });
  return found === "ok" && (db.pragma("foreign_key_check") as unknown[]).length === 0;
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
