// What came of each job and each load of a run, from the engine's events. Times count from the start of the run.

import type { Decision } from "../domain/decision.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { JobId } from "../domain/ids.ts";
import type { SimulationSettings } from "./assembly.ts";
import type { JobRun, LoadRun, ReplayRun } from "./replay.ts";
import type { Arrival, Workload } from "./workload.ts";

/** Listens to the engine's events; the only bookkeeping of a run. */
export class Recorder {
  startMs = 0;
  readonly #jobs = new Map<JobId, JobRun>();
  readonly #loads: LoadRun[] = [];
  readonly #decisions: Decision[] = [];
  readonly #running = new Set<JobId>();
  readonly #reasons = new Map<string, number>();
  readonly #lean: boolean;
  #swaps = 0;
  #unloadingMs = 0;
  #servingMs = 0;
  #servingSinceMs = 0;
  #live = 0;
  #resident: string | null = null;

  /** @param lean Decisions are counted, not kept. */
  constructor(lean: boolean) {
    this.#lean = lean;
  }

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
        if (event.swap) {
          this.#swaps++;
          this.#unloadingMs += event.tookMs;
        }
        this.#resident = null;
        return;
      case "decision": {
        const of = `${event.decision.kind} ${event.decision.reason}`;
        this.#reasons.set(of, (this.#reasons.get(of) ?? 0) + 1);
        if (!this.#lean) this.#decisions.push(event.decision);
        return;
      }
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
      unloadingMs: this.#unloadingMs,
      decisions: this.#decisions,
      reasons: this.#reasons,
      servingMs: this.#servingMs + open,
      elapsedMs: atMs + (last?.unloadMs ?? 0),
      startMs: this.startMs,
    };
  }

  #stopped(id: JobId, atMs: number): void {
    if (this.#running.delete(id) && this.#running.size === 0) this.#servingMs += atMs - this.#servingSinceMs;
  }
}
