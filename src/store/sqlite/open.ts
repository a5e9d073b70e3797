// Opening a SQLite store, in a thread of its own on files, or in this thread on a database handed in.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Database } from "better-sqlite3";
import type { Clock } from "../../domain/clock.ts";
import type { OwnerId } from "../../domain/ids.ts";
import type { Ranking } from "../../domain/ranking.ts";
import type { Subscription } from "../delivery-verbs.ts";
import { sweepSpool } from "../spool.ts";
import { copySpooled } from "./back-up.ts";
import type { BatchHooks, CommitReport } from "./batch.ts";
import { registerBoot } from "./boot.ts";
import { assertDurable, openReader, prepareWriter } from "./connection.ts";
import { type CoreSettings, createCore } from "./core.ts";
import { assertLocal, probeWrite, watchFile } from "./disk.ts";
import type { Host, HostEvents } from "./host.ts";
import { createInProcessHost } from "./in-process.ts";
import { takeLock } from "./lock.ts";
import { migrate } from "./migrate.ts";
import { Outbox } from "./outbox.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { explain, prepareDatabase } from "./start-up.ts";
import { startWorkerHost } from "./worker-host.ts";

/** Settings of a store, wherever it lies. */
export interface StoreOptions {
  readonly owner: OwnerId;
  /** Of this package; kept in the database, so that an older one can say by which it was written. */
  readonly version?: string;
  readonly clock: Clock;
  /** How many ms of earlier arrival one point of priority is worth. */
  readonly ranking: Ranking;
  readonly resultTtlMs: number;
  readonly readTtlMs: number | null;
  readonly maxStoredBytes: number;
  /** Who wants to hear of what; absent: nobody. */
  readonly subscriptions?: readonly Subscription[];
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

export interface OnFile extends StoreOptions {
  /** Absolute. */
  readonly path: string;
  readonly migrations?: string;
  /** Most verbs in one commit; 1 shows what grouping is worth. */
  readonly maxBatch?: number;
  /** The writer's code, where it does not lie beside this file. */
  readonly script?: URL;
  /** FULL; anything less is for the test that shows why, and loses acknowledged jobs in a power cut. */
  readonly synchronous?: "FULL" | "NORMAL";
}

export type SqliteOptions = (OnFile & { readonly host: "worker" }) | (StoreOptions & { readonly host: InProcess });

const DEADLINE_MS = 10_000;
const MAX_BATCH = 1_000;
/** The steps this version knows. */
export const MIGRATIONS = fileURLToPath(new URL("../../../migrations/sqlite", import.meta.url));

/** @throws {StoreOpenError} */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  return options.host === "worker" ? openOnFile(options) : openInProcess({ ...options, ...options.host });
}

/** For tests, and for simulated routers that are killed and opened again on the same database. */
export async function openInProcess(options: StoreOptions & InProcess): Promise<SqliteStore> {
  const { database, owner, clock } = options;
  prepareWriter(database);
  migrate(database, MIGRATIONS);
  const boot = registerBoot(database, owner, clock.nowMs());
  assertDurable(database);
  const core = createCore(database, coreSettings(options));
  const events = createEvents(options, () => outbox);
  const host = createInProcessHost(database, core, options.hooks ?? {}, events, () => undefined);
  const outbox = new Outbox(host, clock, options.deadlineMs ?? DEADLINE_MS);
  const nothing = (): void => undefined;
  const { ranking } = options;
  const held = { verifyFiles: nothing, copySpool: async () => undefined, closeReader: nothing, release: nothing };
  return new SqliteStore({ owner, ranking, boot, outbox, host, reader: database, onBroken: events.broken, ...held });
}

/** The order is that of the dangers: nothing is touched before the lock, nothing is believed before it was checked. */
async function openOnFile(options: OnFile): Promise<SqliteStore> {
  const { path, owner, clock, ranking } = options;
  const directory = dirname(path);
  const lock = takeLock(directory, owner);
  try {
    assertLocal(directory);
    probeWrite(directory);
    const boot = prepareDatabase(path, owner, clock.nowMs(), options.migrations ?? MIGRATIONS, options.version);
    sweepSpool(directory, boot.spooled);
    const events = createEvents(options, () => outbox);
    const host = await startWorkerHost(
      {
        path,
        directory,
        settings: coreSettings(options),
        maxBatch: options.maxBatch ?? MAX_BATCH,
        synchronous: options.synchronous ?? "FULL",
      },
      events,
      options.script,
    );
    const outbox = new Outbox(host, clock, options.deadlineMs ?? DEADLINE_MS);
    const reader = await orClose(host, () => openReader(path));
    return new SqliteStore({
      ...{ owner, ranking, boot, outbox, host, reader },
      verifyFiles: watchFile(path),
      copySpool: (copy) => copySpooled(directory, copy),
      onBroken: events.broken,
      closeReader: () => reader.close(),
      release: lock.release,
    });
  } catch (error) {
    lock.release();
    throw explain(path, error);
  }
}

async function orClose<Value>(host: Host, open: () => Value): Promise<Value> {
  try {
    return open();
  } catch (error) {
    await host.close();
    throw error;
  }
}

function coreSettings({
  owner,
  resultTtlMs,
  readTtlMs,
  maxStoredBytes,
  subscriptions = [],
}: StoreOptions): CoreSettings {
  return { owner, resultTtlMs, readTtlMs, maxStoredBytes, subscriptions };
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
