// Opening a SQLite store: the order of the checks is the order in which they must happen, and each failure says how to
// mend it.

import { fileURLToPath } from "node:url";
import type { Database } from "better-sqlite3";
import type { Clock } from "../../domain/clock.ts";
import type { OwnerId } from "../../domain/ids.ts";
import type { BatchHooks, CommitReport } from "./batch.ts";
import { registerBoot } from "./boot.ts";
import { assertDurable, prepareWriter } from "./connection.ts";
import { type CoreSettings, createCore } from "./core.ts";
import type { HostEvents } from "./host.ts";
import { createInProcessHost } from "./in-process.ts";
import { migrate } from "./migrate.ts";
import { Outbox } from "./outbox.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** Settings of a store, wherever it lies. */
export interface StoreOptions {
  readonly owner: OwnerId;
  readonly clock: Clock;
  /** How many ms of earlier arrival one point of priority is worth. */
  readonly msPerPoint: number;
  readonly resultTtlMs: number;
  readonly readTtlMs: number | null;
  readonly maxStoredBytes: number;
  /** Fail-stop: the process must end, because nothing can be acknowledged any more. */
  readonly onFatal: (error: Error) => void;
  readonly onCommit?: (report: CommitReport) => void;
  /** How long a verb may take before its outcome is called unknown. */
  readonly deadlineMs?: number;
}

/** The database is handed in, in memory or a file, and runs in this thread; it stays open when the store is closed. */
export interface InProcess {
  readonly database: Database;
  readonly hooks?: BatchHooks;
}

export interface SqliteOptions extends StoreOptions {
  readonly host: InProcess;
}

const DEADLINE_MS = 10_000;
const MIGRATIONS = fileURLToPath(new URL("../../../migrations/sqlite", import.meta.url));

/** @throws {StoreOpenError} */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  return openInProcess(options, options.host);
}

/** For tests, and for simulated routers that are killed and opened again on the same database. */
function openInProcess(options: StoreOptions, { database, hooks }: InProcess): SqliteStore {
  const { owner, clock } = options;
  prepareWriter(database);
  migrate(database, MIGRATIONS);
  const boot = registerBoot(database, owner, clock.nowMs());
  assertDurable(database);
  const core = createCore(database, coreSettings(options));
  const events = createEvents(options, () => outbox);
  const host = createInProcessHost(database, core, hooks ?? {}, events, () => undefined);
  const outbox = new Outbox(host, clock, options.deadlineMs ?? DEADLINE_MS);
  return new SqliteStore({
    owner,
    clock,
    msPerPoint: options.msPerPoint,
    boot,
    outbox,
    host,
    reader: database,
    verifyFiles: () => undefined,
    release: () => undefined,
  });
}

function coreSettings({ owner, resultTtlMs, readTtlMs, maxStoredBytes }: StoreOptions): CoreSettings {
  return { owner, resultTtlMs, readTtlMs, maxStoredBytes };
}

function createEvents(options: StoreOptions, outbox: () => Outbox): HostEvents {
  return {
    replies: (replies) => outbox().settle(replies),
    commit: (report) => options.onCommit?.(report),
    broken(error) {
      outbox().fail(error.message);
      options.onFatal(error);
    },
    died: () => outbox().die(),
  };
}
