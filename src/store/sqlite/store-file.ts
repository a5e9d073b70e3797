// A store's file, read without disturbing a router that holds it, and just the same when none does: a connection that
// cannot write, and sees what is committed at each question.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import type { Job } from "../../domain/job.ts";
import type { History } from "../history.ts";
import { StoreOpenError } from "../open-error.ts";
import type { JobQuery, Page, Store } from "../store.ts";
import { lastSignMs } from "./boot.ts";
import { openReader } from "./connection.ts";
import { createHistory } from "./history.ts";
import { createListing } from "./listing.ts";
import { isHeld } from "./lock.ts";
import { inspectSchema } from "./migrate.ts";
import { createModelLog } from "./model-log.ts";
import { MIGRATIONS } from "./open.ts";
import { createReads } from "./reads.ts";
import { explain } from "./start-up.ts";

type Read = "about" | "attempts" | "decision" | "decisions" | "downtimes" | "job" | "loads" | "waits";

/** What can be asked of a store that nobody may write to. */
export interface StoreFile extends Pick<Store, Read> {
  readonly history: History;
  jobs(query: JobQuery): Promise<Page<Job>>;
  /** Whether a router holds it now. */
  held(): boolean;
  close(): void;
}

/** @throws {StoreOpenError} with a mend */
export function openStoreFile(path: string): StoreFile {
  const db = openExisting(path);
  const reads = createReads(db);
  const listing = createListing(db);
  const held = (): boolean => isHeld(dirname(path));
  return {
    history: createHistory(db),
    about: createModelLog(db),
    held,
    close: () => void db.close(),
    job: async (id) => reads.job(id),
    attempts: async (id) => reads.attempts(id),
    waits: async (model, fromMs, toMs) => reads.waits(model, fromMs, toMs),
    loads: async (limit) => reads.loads(limit),
    decision: async (id) => reads.decision(id),
    decisions: (query) => listing.decisions(query, () => Promise.resolve()),
    jobs: (query) => listing.jobs(query, () => Promise.resolve()),
    async downtimes(fromMs, toMs) {
      const gaps = reads.downtimes(fromMs, toMs);
      const sinceMs = held() ? null : lastSignMs(db);
      // The gap that no router has ended yet.
      return sinceMs === null || sinceMs >= toMs ? gaps : [...gaps, { fromMs: sinceMs, toMs }];
    },
  };
}

/** @throws {StoreOpenError} */
function openExisting(path: string): Database {
  if (!existsSync(path)) {
    throw new StoreOpenError("missing", `there is no store at ${path}`, "name the router's store with --store");
  }
  let db: Database | null = null;
  try {
    db = openReader(path);
    assertOurs(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw explain(path, error);
  }
}

function assertOurs(db: Database, path: string): void {
  const { applied, pending } = inspectSchema(db, MIGRATIONS);
  if (pending === 0) return;
  if (applied === 0) {
    const mend = "name the router's store with --store";
    throw new StoreOpenError("not_a_database", `${path} is a SQLite database, and no router's store`, mend);
  }
  throw new StoreOpenError(
    "older_schema",
    `${path} was written by an older version, whose log is not read as it is`,
    "start this version's router on it once",
  );
}
