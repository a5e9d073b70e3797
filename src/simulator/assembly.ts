// The live engine under a virtual clock: the same configuration, store and engine code, with time, ids and memory of
// the simulation's own.

import Database from "better-sqlite3";
import type { Backend } from "../backends/backend.ts";
import { createBackends } from "../backends/registry.ts";
import { resolveConfig } from "../config/load.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import type { Clock } from "../domain/clock.ts";
import type { Emit } from "../domain/event.ts";
import type { IdSource, ModelName, OwnerId } from "../domain/ids.ts";
import { Engine } from "../engine/engine.ts";
import type { EngineSettings } from "../engine/settings.ts";
import { bindPolicy } from "../scheduler/policies/registry.ts";
import type { BoundPolicy } from "../scheduler/policy.ts";
import { type InProcess, openSqliteStore } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import { createLeanStore } from "./lean-store.ts";
import { createSimulatedIds } from "./seeded.ts";
import { type Gpus, TimedBackend } from "./timed-backend.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { type SimulatedModel, tokensFor, type Workload } from "./workload.ts";

/** The rule comes besides. Comparisons have jobs of several minutes: a drain that interrupted them would be what is compared. */
const PLAIN = { policy: "fifo", drainSeconds: 3_600 } as const;

export interface SimulationSettings {
  /** In words, for the heading of a report. */
  readonly title: string;
  /** The configuration's scheduler section: `policy` and what belongs to it. */
  readonly scheduler: Readonly<Record<string, unknown>> & { readonly policy: string };
  readonly passes?: EngineSettings["passes"];
  /** For ids; the workload brings its own. */
  readonly seed?: number;
  /** Without a database, without requests and answers: the same engine and rule, some ten times as many jobs a second. */
  readonly lean?: boolean;
  /** Callers name no priority: bands count for scoring the run only. */
  readonly blind?: boolean;
  /** Every caller asks at once when its answer will be there, as a receipt does. */
  readonly asks?: boolean;
  /** Also what a server would refuse, e.g. a ceiling below one load: the study shows what comes of it. */
  readonly unchecked?: boolean;
}

export interface Parts {
  /** As in `sir.config.ts`. */
  readonly document: unknown;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly emit: Emit;
  readonly passes?: EngineSettings["passes"];
  /** Instead of a fresh database in memory; with hooks around its commits. */
  readonly host?: InProcess;
  /** Instead of the drivers that the document names. */
  readonly backends?: (config: ResolvedConfig) => ReadonlyMap<ModelName, Backend>;
  /** Instead of a database. */
  readonly store?: (config: ResolvedConfig) => Store;
  /** Instead of the document's. */
  readonly policy?: BoundPolicy;
  readonly unattended?: boolean;
  /** What the engine sees of the store. */
  readonly wrapStore?: (store: Store) => Store;
  readonly openBody?: (uri: string) => AsyncIterable<Uint8Array>;
  readonly onFatal?: (error: unknown) => void;
}

export interface Assembly {
  readonly ids: IdSource;
  readonly owner: OwnerId;
  readonly store: Store;
  readonly engine: Engine;
  readonly config: ResolvedConfig;
}

/** The engine is not started yet. @throws {ConfigError} when the document is refused */
export async function assemble(parts: Parts): Promise<Assembly> {
  const { clock, ids, emit } = parts;
  const config = resolveConfig(parts.document, { file: null, baseDir: "/", cwd: "/", overrides: [] });
  const owner = ids.next("boot");
  const onFatal = parts.onFatal ?? rethrow;
  const opened = parts.store?.(config) ?? (await openDatabase(parts, config, owner, onFatal));
  const store = parts.wrapStore?.(opened) ?? opened;
  const engine = new Engine({
    settings: {
      ...config.engine,
      ...(parts.passes === undefined ? {} : { passes: parts.passes }),
      ...(parts.policy === undefined ? {} : { policy: parts.policy }),
      unattended: parts.unattended === true,
    },
    store,
    backends: parts.backends?.(config) ?? createBackends(config.backends, { clock }),
    clock,
    ids,
    owner,
    emit,
    openBody: parts.openBody ?? nowhere,
    onFatal,
  });
  return { ids, owner, store, engine, config };
}

function openDatabase(
  { clock, host }: Parts,
  config: ResolvedConfig,
  owner: OwnerId,
  onFatal: (error: unknown) => void,
): Promise<Store> {
  return openSqliteStore({
    host: host ?? { database: new Database(":memory:") },
    owner,
    clock,
    ranking: config.engine.policy.ranking,
    resultTtlMs: config.jobs.resultTtlMs,
    readTtlMs: config.jobs.readTtlMs,
    maxStoredBytes: config.jobs.maxStoredBytes,
    onFatal,
  });
}

export interface Simulation extends Assembly {
  readonly clock: VirtualClock;
}

/** Nothing is loaded ahead of need unless the run asks for it: it is policies that are compared. */
export async function assembleSimulation(
  workload: Workload,
  { scheduler, passes, seed, lean, unchecked }: SimulationSettings,
  emit: Emit,
): Promise<Simulation> {
  const clock = new VirtualClock();
  const ids = createSimulatedIds(clock, seed ?? 1);
  const models = Object.fromEntries(
    workload.models.map((model) => [model.name, modelDocument(model, workload.devices !== undefined)]),
  );
  const devices = workload.devices?.map(({ name, memoryGiB }) => [name, { memoryGiB }]);
  const policy = unchecked ? bindPolicy(scheduler.policy, scheduler) : undefined;
  const document = {
    store: { url: "sqlite::memory:" },
    scheduler: { ...(unchecked ? PLAIN : scheduler), preloading: scheduler["preloading"] ?? false },
    models,
    ...(devices === undefined ? {} : { devices: Object.fromEntries(devices) }),
  };
  const assembly = await assemble({
    document,
    clock,
    ids,
    emit,
    ...(passes === undefined ? {} : { passes }),
    ...(policy === undefined ? {} : { policy }),
    ...(lean ? leanParts(workload, clock, policy) : {}),
  });
  return { ...assembly, clock };
}

function leanParts(
  { models }: Workload,
  clock: Clock,
  policy: BoundPolicy | undefined,
): Pick<Parts, "store" | "backends" | "unattended"> {
  const gpus: Gpus = new Map();
  return {
    unattended: true,
    store: ({ engine }) => createLeanStore(clock, (policy ?? engine.policy).ranking),
    backends: () => new Map(models.map((model) => [model.name as ModelName, new TimedBackend(model, clock, gpus)])),
  };
}

/** Lets the engine and the store end in virtual time. */
export async function closeSimulation(simulation: Pick<Simulation, "clock" | "engine" | "store">): Promise<void> {
  const { clock, engine, store } = simulation;
  let closed = false;
  const closing = engine
    .close()
    .then(() => store.close())
    .finally(() => {
      closed = true;
    });
  await clock.runWhile(() => !closed, Number.MAX_SAFE_INTEGER);
  await closing;
}

/** The model's section of a configuration, with the mock driver's timing; its footprint where devices are `packed`. */
export function modelDocument(model: SimulatedModel, packed = false): Readonly<Record<string, unknown>> {
  return {
    priority: model.priority,
    concurrency: model.concurrency,
    loadSeconds: model.loadMs / 1_000,
    ...(model.memoryGiB === null || !packed ? {} : { memoryGiB: model.memoryGiB }),
    backend: {
      driver: "mock",
      loadSeconds: model.loadMs / 1_000,
      unloadSeconds: model.unloadMs / 1_000,
      firstTokenSeconds: model.firstTokenMs / 1_000,
      tokensPerSecond: model.tokensPerSecond,
      defaultMaxTokens: tokensFor(model, model.guessedWorkMs),
      slowdownPerJob: model.slowdownPerJob,
      sharesDevice: true,
    },
  };
}

function rethrow(error: unknown): never {
  throw error instanceof Error ? error : new Error(String(error));
}

function nowhere(uri: string): never {
  throw new Error(`a simulated body lies in memory, not at ${uri}`);
}
