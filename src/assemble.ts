// The composition root: from a configuration to a router that listens. The only file that picks implementations.

import { dirname } from "node:path";
import { createFleet } from "./backends/fleet.ts";
import { readFreeGiB } from "./backends/memory-probe.ts";
import { createBatchDesk } from "./batches/desk.ts";
import { createFileDesk, type FileBytes } from "./batches/files.ts";
import { BatchRunner } from "./batches/runner.ts";
import type { ResolvedConfig } from "./config/resolved.ts";
import { setupOf } from "./config/setup.ts";
import type { Clock } from "./domain/clock.ts";
import type { Emit, RouterEvent } from "./domain/event.ts";
import type { DeviceId, IdSource, OwnerId } from "./domain/ids.ts";
import type { Tuning } from "./domain/tuning.ts";
import { Engine } from "./engine/engine.ts";
import { type Judgement, type OwnSettings, Tuner } from "./engine/tuner.ts";
import { createApp } from "./http/app.ts";
import { createClosing } from "./http/closing.ts";
import { Keyring } from "./http/keyring.ts";
import { type Listening, listen } from "./http/listen.ts";
import type { ReplayDesk } from "./http/replays.ts";
import { createModelDirectory, type ModelDirectory } from "./intake/models.ts";
import { createIntake } from "./intake/submit.ts";
import { Audience } from "./live/audience.ts";
import { createLog, type RouterLog } from "./observe/log.ts";
import { createMetrics, type Metrics } from "./observe/metrics.ts";
import type { History } from "./store/history.ts";
import { openStore } from "./store/open.ts";
import { createSpool } from "./store/spool.ts";
import { freeBytesAt, spoolFiles } from "./store/spool-files.ts";
import type { Store } from "./store/store.ts";
import { SystemClock } from "./system/clock.ts";
import { environment } from "./system/environment.ts";
import { createIds } from "./system/ids.ts";
import { openTracing, type Tracing } from "./trace/tracing.ts";
import { Deliverer } from "./webhooks/deliverer.ts";

export interface RouterOptions {
  /** Default: one on standard error at the configured level. */
  readonly log?: RouterLog;
  /** Takes the default log's lines, for people; absent: they are JSON. */
  readonly say?: ((line: string) => void) | undefined;
  readonly version?: string;
  /** Whether tuned settings have done harm since they were obeyed. Absent: none are taken. */
  readonly judge?: (history: History, tuning: Tuning, nowMs: number) => Promise<Judgement>;
  /** Who runs recorded traffic again, from the store's file at `path`. Absent: nothing is replayed here. */
  readonly replays?: (parts: { history: History; path: string; clock: Clock; ids: IdSource }) => ClosableReplayDesk;
}

type ClosableReplayDesk = ReplayDesk & { close(): Promise<void> };

export interface Router {
  readonly url: string;
  readonly port: number;
  /** Resolves with the fault that only a restart mends; never on a clean stop. */
  readonly failed: Promise<Error>;
  /** Takes models, policy and keys from a configuration that was read again; address, store and devices stay. */
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
  const log = options.log ?? createLog({ level: config.logLevel, say: options.say });
  const { promise: failed, fail } = failure();
  const core = await openCore(config, log, fail, options);
  const { engine, store, metrics, models } = core;
  const stop = async (): Promise<void> => {
    await core.replays?.close();
    await core.batches.close();
    await core.tuner.close();
    await engine.close();
    await core.webhooks.close();
    await core.fleet.close();
    await core.tracing?.close();
    metrics.close();
    await store.close();
    core.clock.stop();
  };
  try {
    await engine.start();
    await core.batches.start();
    core.webhooks.start();
    await core.tuner.start();
    const listening = await openHttp(config, core, log, options.version);
    let closed: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      listening.drain();
      await core.batches.close();
      await engine.close();
      await listening.close();
      await stop();
    };
    return {
      url: listening.url,
      port: listening.port,
      failed,
      reload: async (next) => {
        core.keys.replace(next.keys);
        core.fleet.change(next.backends);
        core.present.config = { ...next, engine: { ...next.engine, devices: config.engine.devices } };
        await core.tuner.adopt(ownSettings(next));
        models.replace(next.engine.models);
      },
      close: () => {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Core {
  readonly clock: SystemClock;
  readonly ids: IdSource;
  readonly owner: OwnerId;
  readonly store: Store;
  readonly bytes: FileBytes;
  readonly batches: BatchRunner;
  readonly webhooks: Deliverer;
  readonly metrics: Metrics;
  /** Null: no traces are wanted. */
  readonly tracing: Tracing | null;
  readonly engine: Engine;
  readonly fleet: ReturnType<typeof createFleet>;
  readonly models: ModelDirectory;
  readonly keys: Keyring;
  readonly emit: Emit;
  readonly audience: Audience;
  readonly tuner: Tuner;
  readonly replays: ClosableReplayDesk | undefined;
  /** As it was read last. */
  readonly present: { config: ResolvedConfig };
}

/** Everything below HTTP. */
async function openCore(
  config: ResolvedConfig,
  log: RouterLog,
  fail: (error: unknown) => void,
  { version, judge, replays: openReplays }: RouterOptions,
): Promise<Core> {
  const clock = new SystemClock();
  const ids = createIds(clock);
  const owner = ids.next("boot");
  const store = await openStore(config.store.url, "/", {
    owner,
    ...(version === undefined ? {} : { version }),
    clock,
    ranking: config.engine.policy.ranking,
    resultTtlMs: config.jobs.resultTtlMs,
    readTtlMs: config.jobs.readTtlMs,
    maxStoredBytes: config.jobs.maxStoredBytes,
    subscriptions: config.webhooks.map(({ id, events }) => ({ endpoint: id, events })),
    onFatal: fail,
    onCommit: (report) => metrics.onCommit(report),
  });
  clock.startAtLeast(store.lastStampMs);
  const spool = createSpool(config.store.dataDir ?? dirname(config.store.url.slice("sqlite:".length)));
  const metrics = createMetrics({
    clock,
    ...(version === undefined ? {} : { version }),
    status: () => engine.status(),
    usage: () => store.usage(),
    endpoints: config.webhooks.map(({ label }) => label),
    storedLimitBytes: config.jobs.maxStoredBytes,
    freeBytes: () => freeBytesAt(config.store.dataDir),
    batchLines: () => batches.waiting(),
  });
  const audience = new Audience();
  const emit: Emit = (event) => audience.event(event);
  const { dataDir } = config.store;
  const fleet = createFleet(config.backends, { clock, environment, ...(dataDir === null ? {} : { dataDir }) });
  const engine = new Engine({
    settings: config.engine,
    store,
    backends: fleet.current(),
    clock,
    ids,
    owner,
    emit,
    onChange: (change) => audience.change(change),
    openBody: (uri) => spool.open(uri),
    freeGiB: (device) => freeGiBOf(config, device),
    onFatal: fail,
  });
  const models = createModelDirectory(config.engine.models);
  const bytes = spoolFiles(spool, () => ids.next("req"));
  const batches = new BatchRunner({
    ...{ store, engine, clock, ids, bytes, models, emit },
    settings: { ...config.batches, bodyLimitBytes: config.server.bodyLimitBytes, maxQueued: config.jobs.maxQueued },
  });
  const webhooks = new Deliverer({ store, clock, endpoints: config.webhooks, emit });
  const present = { config };
  const tracing = await openTracing({
    ...{ environment, clock, store, version: version ?? "unknown" },
    providerOf: (model) => present.config.document.models[model]?.backend.driver ?? "unknown",
    count: (outcome, spans) => metrics.spans(outcome, spans),
    warn: (text) => log.logger.warn({ event: "trace" }, text),
  });
  const listeners = [metrics, log, batches, webhooks, ...(tracing === null ? [] : [tracing])];
  audience.add(...listeners.map((each) => ({ event: (event: RouterEvent) => each.listen(event) })));
  const tuner = new Tuner({
    ...{ store, clock, emit, own: ownSettings(config) },
    apply: async (settings) => {
      const decides = { ...present.config, engine: { ...present.config.engine, ...settings } };
      await engine.reconfigure(decides.engine, fleet.current());
      store.append([{ type: "setup", atMs: clock.nowMs(), setup: setupOf(decides) }]);
    },
    ...(judge === undefined ? {} : { judge: (tuning, nowMs) => judge(store.history, tuning, nowMs) }),
  });
  const keys = new Keyring(config.keys);
  const path = config.store.databasePath;
  const replays = path === null ? undefined : openReplays?.({ history: store.history, path, clock, ids });
  const desks = { batches, webhooks, tuner, replays, tracing };
  return { clock, ids, owner, store, bytes, metrics, engine, fleet, models, keys, emit, audience, present, ...desks };
}

function ownSettings({ document, engine }: ResolvedConfig): OwnSettings {
  return { scheduler: document.scheduler, policy: engine.policy, shadow: engine.shadow ?? null };
}

function openHttp(config: ResolvedConfig, core: Core, log: RouterLog, version?: string): Promise<Listening> {
  const { clock, ids, store, engine, metrics, models, emit } = core;
  const intake = createIntake({
    store,
    engine,
    clock,
    ids,
    files: core.bytes,
    models,
    settings: {
      ...config.jobs,
      orphanMs: config.sync.orphanMs,
      bodyLimitBytes: config.server.bodyLimitBytes,
      maxOpenBodies: OPEN_BODIES_MAX,
      maxMemoryBytes: MEMORY_BYTES_MAX,
    },
    emit,
  });
  const closing = createClosing();
  const files = createFileDesk({
    store,
    ids,
    bytes: core.bytes,
    settings: { maxFileBytes: config.batches.maxFileBytes, batchFileTtlMs: config.batches.fileTtlMs },
  });
  const app = createApp({
    intake,
    files,
    batches: createBatchDesk({ store, ids, runner: core.batches }),
    engine,
    tuner: core.tuner,
    ...(core.replays === undefined ? {} : { replays: core.replays }),
    store,
    clock,
    ids,
    metrics,
    keys: core.keys,
    boot: core.owner,
    watch: (listener) => core.audience.add(listener),
    closing,
    settings: config.sync,
    openBody: (uri) => core.bytes.open(uri),
    log: (event) => {
      metrics.http(event);
      log.http(event);
    },
    ...(version === undefined ? {} : { version }),
    driverOf: core.fleet.driverOf,
  });
  return listen(app, { host: config.server.host, port: config.server.port, clock, closing });
}

async function freeGiBOf(config: ResolvedConfig, device: DeviceId): Promise<number | null> {
  const probe = config.engine.devices.find(({ id }) => id === device)?.memoryProbe ?? null;
  return probe === null ? null : readFreeGiB(probe);
}

function failure(): { promise: Promise<Error>; fail: (error: unknown) => void } {
  let fail = (_: unknown): void => undefined;
  const promise = new Promise<Error>((resolve) => {
    fail = (error) => resolve(error instanceof Error ? error : new Error(String(error)));
  });
  return { promise, fail };
}
