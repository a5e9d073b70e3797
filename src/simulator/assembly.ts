// The live engine under a virtual clock: the same configuration, store and driver code, with time, ids and memory of
// the simulation's own.

import Database from "better-sqlite3";
import type { Backend } from "../backends/backend.ts";
import { resolveConfig } from "../config/load.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import type { Emit } from "../domain/event.ts";
import type { IdSource, ModelName } from "../domain/ids.ts";
import { Engine } from "../engine/engine.ts";
import type { EngineSettings } from "../engine/settings.ts";
import { openSqliteStore } from "../store/sqlite/open.ts";
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

export interface Assembly {
  readonly clock: VirtualClock;
  readonly ids: IdSource;
  readonly store: Store;
  readonly engine: Engine;
  readonly config: ResolvedConfig;
}

/** The engine is not started yet. @throws {ConfigError} when the settings are refused for these models. */
export async function assembleSimulation(
  workload: Workload,
  settings: SimulationSettings,
  emit: Emit,
): Promise<Assembly> {
  const config = resolveConfig(documentOf(workload, settings), {
    file: null,
    baseDir: "/",
    cwd: "/",
    overrides: [],
  });
  const clock = new VirtualClock();
  const ids = createSimulatedIds(clock, settings.seed ?? 1);
  const owner = ids.next("boot");
  const failed = (error: unknown): never => {
    throw error instanceof Error ? error : new Error(String(error));
  };
  const store = await openSqliteStore({
    host: { database: new Database(":memory:") },
    owner,
    clock,
    msPerPoint: config.engine.policy.msPerPoint,
    resultTtlMs: config.jobs.resultTtlMs,
    readTtlMs: config.jobs.readTtlMs,
    maxStoredBytes: config.jobs.maxStoredBytes,
    onFatal: failed,
  });
  const engine = new Engine({
    settings: { ...config.engine, ...(settings.passes === undefined ? {} : { passes: settings.passes }) },
    store,
    backends: backendsOf(config, clock),
    clock,
    ids,
    owner,
    emit,
    openBody: (uri) => {
      throw new Error(`a simulated body lies in memory, not at ${uri}`);
    },
    onFatal: failed,
  });
  return { clock, ids, store, engine, config };
}

export async function closeSimulation({ clock, engine, store }: Assembly): Promise<void> {
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

function backendsOf(config: ResolvedConfig, clock: VirtualClock): ReadonlyMap<ModelName, Backend> {
  const found = new Map<ModelName, Backend>();
  for (const { driver, members } of config.backends) {
    const backend = driver.create(members, { clock });
    for (const { spec } of members) found.set(spec.name, backend);
  }
  return found;
}

function documentOf(workload: Workload, { scheduler }: SimulationSettings): unknown {
  return {
    store: { url: "sqlite::memory:" },
    scheduler,
    models: Object.fromEntries(workload.models.map((model) => [model.name, modelDocument(model)])),
  };
}

function modelDocument(model: SimulatedModel): unknown {
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
