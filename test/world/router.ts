// One incarnation of the router: the live engine, intake and store on the day's database, with a clock, a store and
// engines that die with it.

import Database from "better-sqlite3";
import type { Clock } from "../../src/domain/clock.ts";
import type { OwnerId } from "../../src/domain/ids.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Intake } from "../../src/intake/intake.ts";
import { createModelDirectory } from "../../src/intake/models.ts";
import { createIntake } from "../../src/intake/submit.ts";
import { assemble } from "../../src/simulator/assembly.ts";
import { createSimulatedIds } from "../../src/simulator/seeded.ts";
import type { Store } from "../../src/store/store.ts";
import { memoryFiles } from "../memory-files.ts";
import { MAX_ATTEMPTS, MAX_INTERRUPTIONS } from "./audit.ts";
import { createWorldEngines } from "./engines.ts";
import { type DayFacts, type EngineFacts, MINUTE_MS } from "./facts.ts";
import type { Hardware } from "./hardware.ts";
import type { Mortal } from "./mortal.ts";
import { overlay } from "./overlay.ts";
import type { Site } from "./site.ts";

export type WorldDatabase = Database.Database;

export interface Router {
  readonly number: number;
  readonly owner: OwnerId;
  readonly mortal: Mortal;
  readonly hardware: Hardware;
  readonly store: Store;
  readonly engine: Engine;
  readonly intake: Intake;
  /** Router time at which it was recovered and began to serve. */
  readonly startedAtMs: number;
}

export function openDatabase(): WorldDatabase {
  return new Database(":memory:");
}

/** Resolves when it has recovered and listens; never, when it dies before. */
export async function openRouter(
  site: Site,
  mortal: Mortal,
  number: number,
  commit: (phase: "before" | "after") => void,
): Promise<Router> {
  const { facts, hardware, plant, ledger } = site;
  const clock = mortal.clock(site.clock);
  const ids = createSimulatedIds(clock, facts.seed * 1_000 + number);
  const files = memoryFiles();
  const engines = mortal.guard(createWorldEngines(hardware, clock, facts.seed, mortal));
  const emit = (): void => {};
  const onFatal = (error: unknown): void => {
    if (!mortal.dead) ledger.violate(clock.nowMs(), `fatal: ${error instanceof Error ? error.stack : String(error)}`);
  };
  const parts = await assemble({
    document: documentOf(facts),
    clock,
    ids,
    emit,
    host: { database: site.database, hooks: { commit } },
    backends: ({ engine }) => new Map(engine.models.map(({ name }) => [name, engines])),
    wrapStore: (opened) => {
      const store = site.claims.watch(rarelyPruned(opened, clock));
      return mortal.guard(plant?.store?.(store, site.database) ?? store);
    },
    openBody: files.open,
    onFatal,
  });
  const { config, store } = parts;
  const engine = plant?.engine?.(parts.engine) ?? parts.engine;
  const intake = createIntake({
    store,
    engine,
    clock,
    ids,
    files,
    models: createModelDirectory(config.engine.models),
    settings: {
      orphanMs: config.sync.orphanMs,
      bodyLimitBytes: config.server.bodyLimitBytes,
      leaseMs: config.jobs.leaseMs,
      sweepMs: config.jobs.sweepMs,
      maxQueued: config.jobs.maxQueued,
      maxOpenBodies: 1_000,
      maxMemoryBytes: 256 * 1024 * 1024,
    },
    emit,
  });
  await mortal.lasting(parts.engine.start());
  return { number, owner: parts.owner, mortal, hardware, store, engine, intake, startedAtMs: clock.nowMs() };
}

const PRUNE_EVERY_MS = 20 * MINUTE_MS;

/** Nothing is old enough to go within a day, and looking for it every five seconds would take most of the test's time. */
function rarelyPruned(store: Store, clock: Clock): Store {
  let prunedAtMs = clock.nowMs();
  const prune = async (): Promise<boolean> => {
    if (clock.nowMs() < prunedAtMs + PRUNE_EVERY_MS) return false;
    prunedAtMs = clock.nowMs();
    return store.prune();
  };
  return overlay(store, { prune });
}

function documentOf(facts: DayFacts): unknown {
  return {
    store: { url: "sqlite::memory:" },
    scheduler: { policy: facts.policy, ...(facts.policy === "model-score" ? { maxWaitSeconds: 900 } : {}) },
    jobs: {
      leaseSeconds: facts.leaseMs / 1_000,
      maxAttempts: MAX_ATTEMPTS,
      maxInterruptions: MAX_INTERRUPTIONS,
      resultTtlSeconds: 3 * 86_400,
    },
    models: Object.fromEntries(facts.engines.map((engine) => [engine.name, modelOf(engine)])),
  };
}

function modelOf({ concurrency, loadMs }: EngineFacts): unknown {
  return {
    concurrency,
    loadSeconds: loadMs / 1_000,
    loadTimeoutSeconds: 300,
    firstLoadTimeoutSeconds: 600,
    firstByteTimeoutSeconds: 600,
    runTimeoutSeconds: 1_800,
    backend: { driver: "mock" },
  };
}
