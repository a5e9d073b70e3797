// Runs a workload through the live engine under a virtual clock, with the in-memory store and the mock driver, and
// writes down what came of each job and each load. Times in the record count from the start of the run.

import type { Decision } from "../domain/decision.ts";
import type { LoadOutcome, RouterEvent } from "../domain/event.ts";
import type { JobId } from "../domain/ids.ts";
import type { JobStatus } from "../domain/job.ts";
import { assembleSimulation, closeSimulation, type Simulation, type SimulationSettings } from "./assembly.ts";
import { Feed } from "./feed.ts";
import { Recorder } from "./recorder.ts";
import type { Workload } from "./workload.ts";

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
  /** Time that these took. */
  readonly unloadingMs: number;
  /** Every decision the engine logged, in order; `atMs` is router time, see `startMs`. Empty in a lean run. */
  readonly decisions: readonly Decision[];
  /** How many there were of each kind and reason, e.g. `swap cold`. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Time in which at least one job ran. */
  readonly servingMs: number;
  /** Until the end, with the unload of what was resident then. */
  readonly elapsedMs: number;
  readonly startMs: number;
}

/** A run without progress for so long is over: what still waits will wait for ever. */
const GIVE_UP_MS = 30 * 24 * 3_600_000;

export interface Watching {
  /** Sees the engine once it has started, before the first arrival. */
  readonly prepare?: (simulation: Simulation) => Promise<void>;
  /** Sees the engine and its store at the end, before they are closed. */
  readonly look?: (simulation: Simulation, run: ReplayRun) => Promise<void>;
  /** Hears each event after it was written down. */
  readonly hear?: (event: RouterEvent) => void;
  /** So long after the last arrival the run is over, whatever still waits. Default: thirty days after the start. */
  readonly patienceMs?: number;
}

export async function replay(
  workload: Workload,
  settings: SimulationSettings,
  { look, patienceMs, prepare, hear }: Watching = {},
): Promise<ReplayRun> {
  const recorder = new Recorder(settings.lean === true);
  const simulation = await assembleSimulation(workload, settings, (event) => {
    recorder.hear(event, simulation.clock.nowMs());
    hear?.(event);
    if (event.type === "load.finished" && event.outcome === "ready") feed.loaded(event.model);
  });
  const feed = new Feed(simulation, recorder, workload, settings);
  const { clock } = simulation;
  const startMs = clock.nowMs();
  const lastMs = workload.arrivals.at(-1)?.atMs ?? 0;
  recorder.startMs = startMs;
  try {
    await simulation.engine.start();
    await prepare?.(simulation);
    feed.start();
    if (workload.untilMs === null) {
      const untilMs = patienceMs === undefined ? GIVE_UP_MS : lastMs + patienceMs;
      await clock.runWhile(() => feed.left > 0 || recorder.live > 0, startMs + untilMs);
      if (recorder.live > 0) await clock.runUntil(startMs + untilMs);
    } else await clock.runUntil(startMs + workload.untilMs);
    if (feed.failure !== null) throw feed.failure;
    const run = recorder.run(workload, settings, clock.nowMs() - startMs);
    await look?.(simulation, run);
    return run;
  } finally {
    await closeSimulation(simulation);
  }
}
