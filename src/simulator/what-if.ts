// Recorded traffic through the live engine on a virtual clock, under the settings that ran or under others. The engine,
// its policies and its guards are those that serve; only time, engines and callers are played.

import { createHash } from "node:crypto";
import type { Backend } from "../backends/backend.ts";
import { resolveConfig } from "../config/load.ts";
import type { Setup } from "../config/setup.ts";
import type { LoadOutcome, RouterEvent } from "../domain/event.ts";
import { DEFAULT_POOL, LOCAL_CALLER, type ModelName } from "../domain/ids.ts";
import type { PastJob } from "../store/history.ts";
import type { NewJob, Store } from "../store/store.ts";
import { type Assembly, assemble, closeSimulation } from "./assembly.ts";
import { createLeanStore } from "./lean-store.ts";
import { deviceCount, isCounted, type JobOutcome, type Outcome, type Spell } from "./outcome.ts";
import { RecordedBackend } from "./recorded-backend.ts";
import type { RecordedArrival, RecordedWork } from "./recorded-work.ts";
import { createSimulatedIds } from "./seeded.ts";
import type { Traffic } from "./traffic.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Other settings than those that ran; empty: those that ran. */
export interface Change {
  readonly policy?: string;
  readonly set?: Readonly<Record<string, unknown>>;
}

export interface WhatIfOptions {
  readonly title: string;
  readonly change?: Change;
  /** Told now and then: the share of the time that has passed, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/** A run without progress for so long after the last arrival is over: what still waits will wait for ever. */
const GIVE_UP_MS = 7 * 24 * 3_600_000;
const PROGRESS_STEPS = 100;

/** @throws {ConfigError} when the settings are refused */
export async function whatIf(traffic: Traffic, work: RecordedWork, options: WhatIfOptions): Promise<Outcome> {
  const clock = new VirtualClock(traffic.startMs);
  const recorder = new Recorder(traffic, () => clock.nowMs());
  const byName = new Map(work.arrivals.map((arrival) => [arrival.job.id as string, arrival]));
  const backends = backendsOf(traffic, work, clock, (name) => byName.get(name));
  const { change = {} } = options;
  const [first, ...later] = traffic.setups;
  if (first === undefined) throw new Error("traffic without a setup cannot be replayed");
  const hasDeadlines = traffic.jobs.some(({ deadlineAtMs }) => deadlineAtMs !== null);
  const resolve = (setup: Setup): unknown => documentOf(setup, change);
  const simulation = await assemble({
    document: resolve(first.setup),
    clock,
    ids: createSimulatedIds(clock, 1),
    emit: (event) => recorder.hear(event),
    backends: () => backends,
    // Leases and upkeep are nobody's business here; deadlines are kept by the same sweep.
    unattended: !hasDeadlines,
    store: ({ engine }) => learnedStore(createLeanStore(clock, engine.policy.ranking), traffic),
  });
  try {
    await simulation.engine.start();
    let failure: unknown = null;
    const fail = (error: unknown): void => {
      failure ??= error;
    };
    for (const arrival of work.arrivals) {
      const { job } = arrival;
      const come = (): void =>
        void arrive(simulation, clock, arrival).then((known) => recorder.arrived(job, known), fail);
      clock.at(job.acceptedAtMs, come);
    }
    for (const { atMs, setup } of later)
      clock.at(atMs, () => void reconfigure(simulation, resolve(setup), backends).catch(fail));
    const lastMs = Math.max(traffic.range.toMs, work.arrivals.at(-1)?.job.acceptedAtMs ?? 0);
    for (let step = 1; step <= PROGRESS_STEPS; step++) {
      const toMs = traffic.startMs + ((lastMs - traffic.startMs) * step) / PROGRESS_STEPS;
      await clock.runUntil(toMs);
      options.onProgress?.(step / PROGRESS_STEPS);
      if (failure !== null) throw failure;
    }
    await clock.runWhile(() => recorder.busy && failure === null, lastMs + GIVE_UP_MS);
    if (failure !== null) throw failure;
    return recorder.outcome(options.title);
  } finally {
    await closeSimulation({ clock, ...simulation });
  }
}

/** The setup as a configuration, with what is to be different. */
export function documentOf(setup: Setup, { policy, set = {} }: Change): Readonly<Record<string, unknown>> {
  const other = policy !== undefined && policy !== setup.effective.policy;
  // For another policy it is as if that one word of the file had been another: its own defaults, not those that ran.
  const scheduler = { ...setup.scheduler, ...(other ? { policy } : setup.effective), ...set };
  const models = Object.entries(setup.models).flatMap(([name, { usesDevice, driver: _, ...model }]) =>
    usesDevice ? [[name, { ...model, preload: false, backend: { driver: "mock" } }] as const] : [],
  );
  return {
    store: { url: "sqlite::memory:" },
    // Leases are in the arrivals: a caller that stopped polling leaves when it did.
    jobs: { ...setup.jobs, leaseSeconds: 86_400 },
    scheduler: {
      ...scheduler,
      ...("preloading" in scheduler ? { preloading: false } : {}),
      ...("shadow" in scheduler ? { shadow: null } : {}),
    },
    ...(setup.devices === null ? {} : { devices: setup.devices }),
    models: Object.fromEntries(models),
  };
}

function backendsOf(
  traffic: Traffic,
  work: RecordedWork,
  clock: VirtualClock,
  arrival: (name: string) => RecordedArrival | undefined,
): ReadonlyMap<ModelName, Backend> {
  return new Map(
    [...work.models].map(([name, model]) => {
      const residentOn = traffic.resident.filter((each) => each.model === name).map(({ device }) => device);
      return [name as ModelName, new RecordedBackend({ clock, model, residentOn, arrival })];
    }),
  );
}

/** A store that remembers what the router knew of loads when the traffic began, newest first. */
function learnedStore(store: Store, { learned }: Traffic): Store {
  return Object.assign(store, { loads: () => Promise.resolve(learned.toReversed()) });
}

async function reconfigure(
  { engine }: Assembly,
  document: unknown,
  backends: ReadonlyMap<ModelName, Backend>,
): Promise<void> {
  const { engine: settings } = resolveConfig(document, { file: null, baseDir: "/", cwd: "/", overrides: [] });
  await engine.reconfigure(settings, backends);
}

/** False: its model is not configured. */
async function arrive({ store, engine }: Assembly, clock: VirtualClock, arrival: RecordedArrival): Promise<boolean> {
  const { job, leaves } = arrival;
  if (engine.model(job.model) === null) return false;
  const added = await store.add(newJob(job));
  if (added.kind !== "added") throw new Error(`the store refused a replayed job: ${added.kind}`);
  engine.admit(added.job, null);
  if (leaves !== null) clock.at(leaves.atMs, () => void engine.cancel(job.id, leaves.reason));
  return true;
}

const NO_BYTES = new Uint8Array();
const NO_SHA = createHash("sha256").update(NO_BYTES).digest();

function newJob({ id, model, priority, acceptedAtMs, deadlineAtMs }: PastJob): NewJob {
  return {
    id,
    pool: DEFAULT_POOL,
    caller: LOCAL_CALLER,
    model,
    endpoint: "/v1/chat/completions",
    priority,
    stream: false,
    leaseMs: null,
    deadlineMs: deadlineAtMs === null ? null : deadlineAtMs - acceptedAtMs,
    traceparent: null,
    clientRequestId: id,
    metadata: {},
    idempotency: null,
    body: {
      contentType: "application/json",
      sizeBytes: 0,
      sha256: NO_SHA,
      headers: {},
      modelSpan: null,
      source: { kind: "bytes", bytes: NO_BYTES },
    },
  };
}

/** Listens to the engine's events; the only bookkeeping of a run. */
class Recorder {
  readonly #traffic: Traffic;
  readonly #nowMs: () => number;
  readonly #jobs = new Map<string, JobOutcome>();
  readonly #spells: Spell[] = [];
  readonly #since = new Map<string, { device: string; model: string; fromMs: number }>();
  readonly #loadSince = new Map<string, number>();
  #expected: number;
  #open = 0;
  #swaps = 0;
  #loads = 0;

  constructor(traffic: Traffic, nowMs: () => number) {
    this.#traffic = traffic;
    this.#nowMs = nowMs;
    this.#expected = traffic.jobs.length;
    for (const { id, model, priority, acceptedAtMs, deadlineAtMs } of traffic.jobs) {
      const fresh = { startedAtMs: null, finishedAtMs: null, status: "queued" as const };
      this.#jobs.set(id, { id, model, priority, acceptedAtMs, deadlineAtMs, ...fresh });
      if (isCounted({ acceptedAtMs }, traffic.range)) this.#open++;
    }
    for (const { device, model } of traffic.resident)
      this.#since.set(`${device} ${model}`, { device, model, fromMs: traffic.startMs });
  }

  /** Whether a counted job has not ended, or one is still to come. */
  get busy(): boolean {
    return this.#open > 0 || this.#expected > 0;
  }

  /** @param known False: its model was not configured then, so it will not run. */
  arrived({ id, acceptedAtMs }: PastJob, known: boolean): void {
    this.#expected--;
    if (known || !isCounted({ acceptedAtMs }, this.#traffic.range)) return;
    this.#open--;
    this.#jobs.delete(id);
  }

  hear(event: RouterEvent): void {
    const atMs = this.#nowMs();
    switch (event.type) {
      case "job.dispatched": {
        const job = this.#jobs.get(event.job);
        if (job !== undefined) job.startedAtMs ??= atMs;
        return;
      }
      case "job.finished": {
        const job = this.#jobs.get(event.job);
        if (job === undefined) return;
        job.finishedAtMs = atMs;
        job.status = event.status;
        if (isCounted(job, this.#traffic.range)) this.#open--;
        return;
      }
      case "load.started":
        this.#loadSince.set(event.instance, atMs);
        return;
      case "load.finished":
        this.#loaded(event.device, event.model, this.#loadSince.get(event.instance) ?? atMs, event.outcome);
        return;
      case "unload.finished":
        this.#unloaded(event.device, event.model, atMs - event.tookMs);
        return;
      case "decision":
        if (event.decision.kind === "swap" && this.#inRange(atMs)) this.#swaps++;
        return;
      default:
        return;
    }
  }

  outcome(title: string): Outcome {
    const { range } = this.#traffic;
    for (const { device, model, fromMs } of this.#since.values())
      this.#spells.push({ device, model, kind: "resident", fromMs, toMs: this.#nowMs() });
    return {
      title,
      jobs: [...this.#jobs.values()].filter((job) => isCounted(job, range)),
      spells: this.#spells,
      swaps: this.#swaps,
      loads: this.#loads,
      range,
      devices: deviceCount(this.#traffic),
    };
  }

  #loaded(device: string, model: string, fromMs: number, outcome: LoadOutcome): void {
    const toMs = this.#nowMs();
    this.#spells.push({ device, model, kind: "loading", fromMs, toMs });
    if (outcome !== "ready") return;
    if (this.#inRange(fromMs)) this.#loads++;
    this.#since.set(`${device} ${model}`, { device, model, fromMs: toMs });
  }

  #unloaded(device: string, model: string, fromMs: number): void {
    const key = `${device} ${model}`;
    const since = this.#since.get(key);
    if (since !== undefined) this.#spells.push({ device, model, kind: "resident", fromMs: since.fromMs, toMs: fromMs });
    this.#since.delete(key);
    this.#spells.push({ device, model, kind: "unloading", fromMs, toMs: this.#nowMs() });
  }

  #inRange(atMs: number): boolean {
    return atMs >= this.#traffic.range.fromMs && atMs < this.#traffic.range.toMs;
  }
}
