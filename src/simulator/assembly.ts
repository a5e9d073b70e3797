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
import { type InProcess, openSqliteStore } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import { createSimulatedIds } from "./seeded.ts";
import { VirtualClock } from "./virtual-clock.ts";
import type { SimulatedModel, Workload } from "./workload.ts";

export interface SimulationSettings {
  /** In words, for the heading of a report. */
  readonly title: string;
  /** The configuration's scheduler section: `policy` and what belongs to it. */
  readonly scheduler: Readonly<Record<string, unknown>> & { readonly policy: string };
  readonly passes?: EngineSettings["passes"];
  /** For ids; the workload brings its own. */
  readonly seed?: number;
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
  const opened = await openSqliteStore({
    host: parts.host ?? { database: new Database(":memory:") },
    owner,
    clock,
    ranking: config.engine.policy.ranking,
    resultTtlMs: config.jobs.resultTtlMs,
    readTtlMs: config.jobs.readTtlMs,
    maxStoredBytes: config.jobs.maxStoredBytes,
    onFatal,
  });
  const store = parts.wrapStore?.(opened) ?? opened;
  const engine = new Engine({
    settings: { ...config.engine, ...(parts.passes === undefined ? {} : { passes: parts.passes }) },
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

export interface Simulation extends Assembly {
  readonly clock: VirtualClock;
}

export async function assembleSimulation(
  workload: Workload,
  { scheduler, passes, seed }: SimulationSettings,
  emit: Emit,
): Promise<Simulation> {
  const clock = new VirtualClock();
  const ids = createSimulatedIds(clock, seed ?? 1);
  const models = Object.fromEntries(workload.models.map((model) => [model.name, modelDocument(model)]));
  const document = { store: { url: "sqlite::memory:" }, scheduler, models };
  const assembly = await assemble({ document, clock, ids, emit, ...(passes === undefined ? {} : { passes }) });
  return { ...assembly, clock };
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

/** The model's section of a configuration, with the mock driver's timing. */
export function modelDocument(model: SimulatedModel): Readonly<Record<string, unknown>> {
  return {
    priority: model.priority,
    concurrency: model.concurrency,
    loadSeconds: model.loadMs / 1_000,
    backend: {
      driver: "mock",
      loadSeconds: model.loadMs / 1_000,
      unloadSeconds: model.unloadMs / 1_000,
      firstTokenSeconds: model.firstTokenMs / 1_000,
      tokensPerSecond: model.tokensPerSecond,
      slowdownPerJob: model.slowdownPerJob,
    },
  };
}

function rethrow(error: unknown): never {
  throw error instanceof Error ? error : new Error(String(error));
}

function nowhere(uri: string): never {
  throw new Error(`a simulated body lies in memory, not at ${uri}`);
}
