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
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
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
    rmSync(partial, { force: true });
    throw error;
  }
}

function copyDatabase(from: string, to: string): void {
  let db: Database | null = null;
  try {
    db = openReader(from);
    if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").get() === undefined) {
      throw new StoreOpenError("not_a_database", `${from} is no router's store`, "name it with --store");
    }
    db.prepare("VACUUM INTO ?").run(to);
    chmodSync(to, 0o600);
  } catch (error) {
    throw error instanceof StoreOpenError ? error : explain(from, error);
  } finally {
    db?.close();
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
