// `given(...)`: a whole router in virtual time, with the in-memory store and the mock driver, for tests of anything.
//
//   const world = await given({ models: { chat: { loadMs: 8_000 }, translate: {} }, policy: "fifo" });
//   world.arrive("translate", { atMs: 0 });
//   await world.runUntilIdle();
//   expect(world.order()).toEqual(["translate"]);

import { onTestFinished } from "vitest";
import type { Backend } from "../src/backends/backend.ts";
import { createBackends } from "../src/backends/registry.ts";
import { createBatchDesk } from "../src/batches/desk.ts";
import { createFileDesk } from "../src/batches/files.ts";
import { BatchRunner } from "../src/batches/runner.ts";
import type { Decision } from "../src/domain/decision.ts";
import type { RouterEvent } from "../src/domain/event.ts";
import { type JobId, LOCAL_CALLER, type ModelName } from "../src/domain/ids.ts";
import { createApp } from "../src/http/app.ts";
import { createModelDirectory } from "../src/intake/models.ts";
import { createIntake } from "../src/intake/submit.ts";
import { assemble, closeSimulation, modelDocument } from "../src/simulator/assembly.ts";
import { createSimulatedIds } from "../src/simulator/seeded.ts";
import { VirtualClock } from "../src/simulator/virtual-clock.ts";
import { type SimulatedModel, simulatedModel } from "../src/simulator/workload.ts";
import { memoryFiles } from "./memory-files.ts";

export interface GivenModel extends Partial<Omit<SimulatedModel, "name">> {
  /** More of the mock driver's options, e.g. `{ failLoads: 2 }`. */
  readonly backend?: Readonly<Record<string, unknown>>;
  /** More of the model's section, e.g. `{ maxLoadFailures: 2 }`. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface Given {
  readonly models: Readonly<Record<string, GivenModel>>;
  readonly policy?: string;
  /** The rest of the scheduler's section. */
  readonly scheduler?: Readonly<Record<string, unknown>>;
  readonly jobs?: Readonly<Record<string, unknown>>;
  readonly sync?: Readonly<Record<string, unknown>>;
  readonly server?: Readonly<Record<string, unknown>>;
  readonly devices?: Readonly<Record<string, unknown>>;
  /** Loaded before the first arrival, as an operator would. */
  readonly resident?: string;
  readonly seed?: number;
  /** What the engine gets instead of each mock backend. */
  readonly wrap?: (backend: Backend) => Backend;
}

export interface ArriveOptions {
  /** From the start of the world. Absent or past: now. */
  readonly atMs?: number;
  readonly tokens?: number;
  /** Lower-case request headers, e.g. `{ "sir-priority": "batch", "idempotency-key": "k1" }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Nobody polls these jobs, so they carry no lease unless a header says otherwise. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Filled in once the job has been accepted (or refused). */
export interface Arrived {
  id: JobId | null;
  error: unknown;
}

const FOREVER_MS = 7 * 24 * 3_600_000;

export async function given(facts: Given) {
  const clock = new VirtualClock();
  const startMs = clock.nowMs();
  const events: RouterEvent[] = [];
  const files = memoryFiles();
  const backendOf = new Map<ModelName, Backend>();
  let accepting = 0;
  const emit = (event: RouterEvent): void => {
    events.push(event);
    batches.listen(event);
  };
  const parts = await assemble({
    document: documentOf(facts),
    clock,
    ids: createSimulatedIds(clock, facts.seed ?? 1),
    emit,
    openBody: files.open,
    backends: ({ backends }) => {
      const made = createBackends(backends, { clock });
      for (const [model, backend] of made) backendOf.set(model, facts.wrap?.(backend) ?? backend);
      return backendOf;
    },
  });
  const { engine, store, ids, config } = parts;
  const models = createModelDirectory(config.engine.models);
  const intake = createIntake({
    store,
    engine,
    clock,
    ids,
    files,
    models,
    settings: {
      orphanMs: config.sync.orphanMs,
      bodyLimitBytes: config.server.bodyLimitBytes,
      leaseMs: config.jobs.leaseMs,
      sweepMs: config.jobs.sweepMs,
      maxQueued: config.jobs.maxQueued,
      maxOpenBodies: 1_000,
      maxMemoryBytes: 256 * 1024 * 1024,
    },
    emit: (event) => void events.push(event),
  });
  const { maxFileBytes, fileTtlMs } = config.batches;
  const batches = new BatchRunner({
    ...{ store, engine, clock, ids, bytes: files, models, emit },
    settings: { ...config.batches, bodyLimitBytes: config.server.bodyLimitBytes, maxQueued: config.jobs.maxQueued },
  });
  const app = createApp({
    ...{ intake, engine, store, clock, ids, settings: config.sync, openBody: files.open },
    files: createFileDesk({ store, ids, bytes: files, settings: { maxFileBytes, batchFileTtlMs: fileTtlMs } }),
    batches: createBatchDesk({ store, ids, runner: batches }),
  });
  await engine.start();
  await batches.start();
  if (facts.resident !== undefined) {
    await engine.operator.load(models.resolve(facts.resident).name);
    const loaded = (): boolean =>
      engine.status().models.some(({ spec, state }) => spec.name === facts.resident && state === "resident");
    await clock.runWhile(() => !loaded(), startMs + FOREVER_MS);
    events.length = 0;
  }
  const originMs = clock.nowMs();
  let closed = false;

  const submit = async (model: string, options: ArriveOptions, arrived: Arrived): Promise<void> => {
    const bytes = Buffer.from(
      JSON.stringify({
        model,
        messages: [{ role: "user", content: "hi" }],
        max_tokens: options.tokens ?? 64,
        ...options.body,
      }),
    );
    const headers: Readonly<Record<string, string>> = {
      "content-type": "application/json",
      "sir-lease": "none",
      ...options.headers,
    };
    const body = (async function* () {
      yield bytes;
    })();
    try {
      const prepared = await intake.prepare({
        endpoint: "/v1/chat/completions",
        caller: LOCAL_CALLER,
        header: (name) => headers[name] ?? null,
        body,
      });
      arrived.id = (await intake.accept(prepared, "async")).job.id;
    } catch (error) {
      arrived.error = error;
    }
    accepting--;
  };
  const ofType = <Type extends RouterEvent["type"]>(type: Type) =>
    events.filter((event): event is Extract<RouterEvent, { type: Type }> => event.type === type);
  const idle = (): boolean => {
    const { queued, running } = engine.status();
    return accepting === 0 && queued === 0 && running === 0;
  };
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await batches.close();
    await closeSimulation({ clock, engine, store });
  };
  onTestFinished(close);

  return {
    clock,
    store,
    engine,
    intake,
    models,
    config,
    backends: backendOf as ReadonlyMap<ModelName, Backend>,
    batches,
    files,
    /** `await app.request("/v1/…")` where the answer needs no time; else `world.answer(app.request(…))`. */
    app,
    /** Everything the engine has emitted, oldest first. */
    events,
    ofType,
    /** An asynchronous request, now or at `atMs`; settles as time goes on. */
    arrive(model: string, options: ArriveOptions = {}): Arrived {
      const arrived: Arrived = { id: null, error: null };
      accepting++;
      clock.at(originMs + (options.atMs ?? 0), () => void submit(model, options, arrived));
      return arrived;
    },
    /** Until nothing is queued or running and nobody is still to arrive. Fails loudly after a week of virtual time. */
    async runUntilIdle(): Promise<void> {
      if (!(await clock.runWhile(() => !idle(), clock.nowMs() + FOREVER_MS))) throw new Error("it never becomes idle");
    },
    /** Until an event of this type comes (not counting earlier ones). */
    async until(type: RouterEvent["type"]): Promise<void> {
      const before = ofType(type).length;
      const came = await clock.runWhile(() => ofType(type).length === before, clock.nowMs() + FOREVER_MS);
      if (!came) throw new Error(`${type} never comes`);
    },
    advance: (ms: number): Promise<void> => clock.runUntil(clock.nowMs() + ms),
    /** Lets time go on until the promise settles, e.g. an `app.request()` that waits for its job. */
    async answer<T>(promise: Promise<T> | T): Promise<T> {
      let settled = false;
      const watched = Promise.resolve(promise).finally(() => {
        settled = true;
      });
      watched.catch(() => undefined);
      if (!(await clock.runWhile(() => !settled, clock.nowMs() + FOREVER_MS))) throw new Error("it never settles");
      return watched;
    },
    /** Ms since the first arrival was possible. */
    elapsedMs: (): number => clock.nowMs() - originMs,
    /** Models in the order in which their jobs were started. */
    order: (): string[] => ofType("job.dispatched").map(({ model }) => model),
    started: (): JobId[] => ofType("job.dispatched").map(({ job }) => job),
    swaps: (): number => ofType("unload.finished").filter(({ swap }) => swap).length,
    loads: (): number => ofType("load.finished").filter(({ outcome }) => outcome === "ready").length,
    decisions: (): Decision[] => ofType("decision").map(({ decision }) => decision),
    async job(arrived: Arrived | JobId) {
      const id = typeof arrived === "string" ? arrived : arrived.id;
      if (id === null) throw new Error("it has not been accepted", { cause: arrived });
      const job = await store.job(id);
      if (job === null) throw new Error(`${id} is not stored`);
      return job;
    },
    close,
  };
}

function documentOf(facts: Given): unknown {
  const models = Object.entries(facts.models).map(([name, { backend, config, ...timing }]) => {
    const document = modelDocument(simulatedModel(name, timing));
    return [name, { ...document, ...config, backend: { ...(document["backend"] as object), ...backend } }];
  });
  const scheduler = { ...(facts.policy === undefined ? {} : { policy: facts.policy }), ...facts.scheduler };
  const { jobs = {}, sync = {}, server = {}, devices } = facts;
  return {
    store: { url: "sqlite::memory:" },
    models: Object.fromEntries(models),
    scheduler,
    jobs,
    sync,
    server,
    ...(devices === undefined ? {} : { devices }),
  };
}
