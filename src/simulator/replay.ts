// Runs a workload through the live engine under a virtual clock, with the in-memory store and the mock driver, and
// writes down what came of each job and each load. Times in the record count from the start of the run.

import { createHash } from "node:crypto";
import type { Decision } from "../domain/decision.ts";
import type { LoadOutcome, RouterEvent } from "../domain/event.ts";
import { DEFAULT_POOL, type JobId, LOCAL_CALLER, type ModelName } from "../domain/ids.ts";
import type { JobStatus } from "../domain/job.ts";
import type { NewJob } from "../store/store.ts";
import { assembleSimulation, closeSimulation, type Simulation, type SimulationSettings } from "./assembly.ts";
import type { Arrival, Workload } from "./workload.ts";

export interface JobRun {
  readonly id: JobId;
  readonly model: string;
  readonly priority: number;
  readonly arrivedAtMs: number;
  /** First dispatch; null when it never ran. */
  startedAtMs: number | null;
  finishedAtMs: number | null;
  status: JobStatus;
}

export interface LoadRun {
  readonly model: string;
  readonly endedAtMs: number;
  readonly tookMs: number;
  readonly outcome: LoadOutcome;
}

export interface ReplayRun {
  readonly workload: Workload;
  readonly policy: string;
  /** In words, for the heading. */
  readonly title: string;
  readonly jobs: readonly JobRun[];
  readonly loads: readonly LoadRun[];
  /** Unloads that made room for another model. */
  readonly swaps: number;
  /** Every decision the engine logged, in order; `atMs` is router time, see `startMs`. */
  readonly decisions: readonly Decision[];
  /** Time in which at least one job ran. */
  readonly servingMs: number;
  /** Until the end, with the unload of what was resident then. */
  readonly elapsedMs: number;
  readonly startMs: number;
}

/** A run without progress for so long is over: what still waits will wait for ever. */
const GIVE_UP_MS = 30 * 24 * 3_600_000;

/** @param look Sees the engine and its store at the end, before they are closed. */
export async function replay(
  workload: Workload,
  settings: SimulationSettings,
  look?: (simulation: Simulation, run: ReplayRun) => Promise<void>,
): Promise<ReplayRun> {
  const recorder = new Recorder();
  const simulation = await assembleSimulation(workload, settings, (event) =>
    recorder.hear(event, simulation.clock.nowMs()),
  );
  const { clock } = simulation;
  const startMs = clock.nowMs();
  recorder.startMs = startMs;
  try {
    await simulation.engine.start();
    let left = workload.arrivals.length;
    let failure: unknown = null;
    for (const arrival of workload.arrivals) {
      clock.at(startMs + arrival.atMs, () => {
        submit(simulation, recorder, arrival).catch((error: unknown) => {
          failure ??= error;
        });
        left--;
      });
    }
    if (workload.untilMs === null) await clock.runWhile(() => left > 0 || recorder.live > 0, startMs + GIVE_UP_MS);
    else await clock.runUntil(startMs + workload.untilMs);
    if (failure !== null) throw failure;
    const run = recorder.run(workload, settings, clock.nowMs() - startMs);
    await look?.(simulation, run);
    return run;
  } finally {
    await closeSimulation(simulation);
  }
}

async function submit({ store, engine, ids }: Simulation, recorder: Recorder, arrival: Arrival): Promise<void> {
  const added = await store.add(newJob(ids.next("job"), arrival));
  if (added.kind !== "added") throw new Error(`the store refused a simulated job: ${added.kind}`);
  recorder.arrived(added.job.id, arrival);
  engine.admit(added.job, null);
}

function newJob(id: JobId, arrival: Arrival): NewJob {
  const text = JSON.stringify({
    model: arrival.model,
    max_tokens: arrival.tokens,
    messages: [{ role: "user", content: "." }],
  });
  const bytes = Buffer.from(text);
  return {
    id,
    pool: DEFAULT_POOL,
    caller: LOCAL_CALLER,
    model: arrival.model as ModelName,
    endpoint: "/v1/chat/completions",
    priority: arrival.priority,
    stream: false,
    leaseMs: null,
    deadlineMs: null,
    traceparent: null,
    clientRequestId: null,
    metadata: {},
    idempotency: null,
    body: {
      contentType: "application/json",
      sizeBytes: bytes.byteLength,
      sha256: createHash("sha256").update(bytes).digest(),
      headers: {},
      modelSpan: null,
      source: { kind: "bytes", bytes },
    },
  };
}

/** Listens to the engine's events; the only bookkeeping of a run. */
class Recorder {
  startMs = 0;
  readonly #jobs = new Map<JobId, JobRun>();
  readonly #loads: LoadRun[] = [];
  readonly #decisions: Decision[] = [];
  readonly #running = new Set<JobId>();
  #swaps = 0;
  #servingMs = 0;
  #servingSinceMs = 0;
  #live = 0;
  #resident: string | null = null;

  /** Jobs that are not final. */
  get live(): number {
    return this.#live;
  }

  arrived(id: JobId, { model, priority, atMs }: Arrival): void {
    this.#live++;
    const run: JobRun = {
      id,
      model,
      priority,
      arrivedAtMs: atMs,
      startedAtMs: null,
      finishedAtMs: null,
      status: "queued",
    };
    this.#jobs.set(id, run);
  }

  hear(event: RouterEvent, nowMs: number): void {
    const atMs = nowMs - this.startMs;
    switch (event.type) {
      case "job.dispatched": {
        const job = this.#jobs.get(event.job);
        if (job !== undefined) job.startedAtMs ??= atMs;
        if (this.#running.size === 0) this.#servingSinceMs = atMs;
        this.#running.add(event.job);
        return;
      }
      case "job.requeued":
        this.#stopped(event.job, atMs);
        return;
      case "job.finished": {
        this.#stopped(event.job, atMs);
        this.#live--;
        const job = this.#jobs.get(event.job);
        if (job === undefined) return;
        job.finishedAtMs = atMs;
        job.status = event.status;
        return;
      }
      case "load.finished":
        this.#loads.push({ model: event.model, endedAtMs: atMs, tookMs: event.tookMs, outcome: event.outcome });
        if (event.outcome === "ready") this.#resident = event.model;
        return;
      case "unload.finished":
        if (event.swap) this.#swaps++;
        this.#resident = null;
        return;
      case "decision":
        this.#decisions.push(event.decision);
        return;
      default:
        return;
    }
  }

  run(workload: Workload, settings: SimulationSettings, atMs: number): ReplayRun {
    const last = workload.models.find((model) => model.name === this.#resident);
    const open = this.#running.size === 0 ? 0 : atMs - this.#servingSinceMs;
    return {
      workload,
      policy: settings.scheduler.policy,
      title: settings.title,
      jobs: [...this.#jobs.values()],
      loads: this.#loads,
      swaps: this.#swaps,
      decisions: this.#decisions,
      servingMs: this.#servingMs + open,
      elapsedMs: atMs + (last?.unloadMs ?? 0),
      startMs: this.startMs,
    };
  }

  #stopped(id: JobId, atMs: number): void {
    if (this.#running.delete(id) && this.#running.size === 0) this.#servingMs += atMs - this.#servingSinceMs;
  }
}
