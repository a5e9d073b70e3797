// The composition root: from a configuration to a router that listens. The only file that picks implementations.

import { dirname } from "node:path";
import { createFleet, type Fleet } from "./backends/fleet.ts";
import type { ResolvedConfig } from "./config/resolved.ts";
import type { Emit } from "./domain/event.ts";
import { Engine } from "./engine/engine.ts";
import { createApp } from "./http/app.ts";
import { createClosing } from "./http/closing.ts";
import { listen } from "./http/listen.ts";
import type { FileInWriting } from "./intake/body-files.ts";
import { createModelDirectory } from "./intake/models.ts";
import { createIntake } from "./intake/submit.ts";
import { createLog, type RouterLog } from "./observe/log.ts";
import { createMetrics } from "./observe/metrics.ts";
import { openStore } from "./store/open.ts";
import { createSpool, type SpoolFile } from "./store/spool.ts";
import { SystemClock } from "./system/clock.ts";
import { createIds } from "./system/ids.ts";

export interface RouterOptions {
  /** Default: one on standard error at the configured level. */
  readonly log?: RouterLog;
  readonly version?: string;
}

export interface Router {
  readonly url: string;
  readonly port: number;
  /** Resolves with the fault that only a restart mends; never on a clean stop. */
  readonly failed: Promise<Error>;
  /** Takes models and policy from a configuration that was read again; address, store and devices stay. */
  reload(config: ResolvedConfig): Promise<void>;
  /** Takes no new work, finishes what runs within `server.shutdownSeconds`, keeps the rest queued. Idempotent. */
  close(): Promise<void>;
}

/** Bodies that are read at once, and what of them may lie in memory. */
const OPEN_BODIES_MAX = 1_000;
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Opens the store, recovers, and only then listens.
 *
 * @throws {StoreOpenError} with a mend, when the store cannot be had
 * @throws `EADDRINUSE` and the like, when the address cannot
 */
export async function startRouter(config: ResolvedConfig, options: RouterOptions = {}): Promise<Router> {
  const clock = new SystemClock();
  const ids = createIds(clock);
  const owner = ids.next("boot");
  const log = options.log ?? createLog({ level: config.logLevel });
  let fail = (_: unknown): void => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = (error) => resolve(error instanceof Error ? error : new Error(String(error)));
  });

  const store = await openStore(config.store.url, "/", {
    owner,
    clock,
    msPerPoint: config.engine.policy.msPerPoint,
    resultTtlMs: config.jobs.resultTtlMs,
    readTtlMs: config.jobs.readTtlMs,
    maxStoredBytes: config.jobs.maxStoredBytes,
    onFatal: fail,
    onCommit: (report) => metrics.onCommit(report),
  });
  clock.startAtLeast(store.lastStampMs);
  const spool = createSpool(config.store.dataDir ?? dirname(config.store.url.slice("sqlite:".length)));
  const metrics = createMetrics({ clock, status: () => engine.status(), usage: () => store.usage() });
  const emit: Emit = (event) => {
    metrics.listen(event);
    log.listen(event);
  };
  const fleet: Fleet = createFleet(config.backends, { clock });
  const engine = new Engine({
    settings: config.engine,
    store,
    backends: fleet.current(),
    clock,
    ids,
    owner,
    emit,
    openBody: (uri) => spool.open(uri),
    onFatal: fail,
  });
  const models = createModelDirectory(config.engine.models);
  const closing = createClosing();
  try {
    await engine.start();
    const intake = createIntake({
      store,
      engine,
      ids,
      files: { create: async () => finishing(await spool.create(ids.next("req"))), remove: (uri) => spool.remove(uri) },
      models,
      settings: {
        ...config.jobs,
        bodyLimitBytes: config.server.bodyLimitBytes,
        maxOpenBodies: OPEN_BODIES_MAX,
        maxMemoryBytes: MEMORY_BYTES_MAX,
      },
      emit,
    });
    const app = createApp({
      intake,
      engine,
      store,
      clock,
      ids,
      metrics,
      closing,
      settings: { holdMs: config.sync.holdMs, orphanMs: config.sync.orphanMs },
      log: log.http,
      ...(options.version === undefined ? {} : { version: options.version }),
    });
    const listening = await listen(app, { host: config.server.host, port: config.server.port, clock, closing });
    let closed: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      listening.drain();
      await engine.close();
      await listening.close();
      metrics.close();
      await store.close();
    };
    return {
      url: listening.url,
      port: listening.port,
      failed,
      reload: async (next) => {
        await engine.reconfigure({ ...next.engine, devices: config.engine.devices }, fleet.change(next.backends));
        models.replace(next.engine.models);
      },
      close: () => (closed ??= close()),
    };
  } catch (error) {
    await engine.close();
    metrics.close();
    await store.close();
    throw error;
  }
}

/** A spool file in the words of intake. */
function finishing(file: SpoolFile): FileInWriting {
  return {
    uri: file.uri,
    write: (bytes) => file.write(bytes),
    finish: () => file.commit(),
    discard: () => file.discard(),
  };
}
