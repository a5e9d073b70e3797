// Recorded traffic as work: how long each attempt would have run alone, how each ended, when each caller left, and how
// long loads and unloads took. What was never seen (a job that never ran) is guessed from its model's median.

import type { Outcome as RunOutcome } from "../backends/backend.ts";
import type { LoadTier } from "../domain/event.ts";
import type { CancelReason } from "../domain/job.ts";
import type { PastJob, PastRun } from "../store/history.ts";
import { recordedUnloads } from "./outcome.ts";
import type { Traffic } from "./traffic.ts";
import { type Run, workAlone } from "./work-alone.ts";

export interface RecordedRun {
  readonly workMs: number;
  readonly ends: "succeeded" | "refused" | "busy" | "lost" | "failed";
}

export interface RecordedArrival {
  readonly job: PastJob;
  /** One for each attempt that ended by itself; the last one again for any more. */
  readonly runs: readonly RecordedRun[];
  /** When the caller was gone, if the job has not ended by then; null: it stayed. */
  readonly leaves: { readonly atMs: number; readonly reason: CancelReason } | null;
}

export interface RecordedLoad {
  readonly tookMs: number;
  readonly ready: boolean;
  readonly tier: LoadTier;
}

/** One model as it was measured. */
export interface RecordedModel {
  readonly name: string;
  readonly slowdownPerJob: number;
  readonly slowdownMeasured: boolean;
  readonly medianWorkMs: number;
  /** In the order in which they were; after the last the first again. Empty: none was seen, `loadMs` holds. */
  readonly loads: readonly RecordedLoad[];
  readonly loadMs: number;
  readonly unloads: readonly number[];
}

export interface RecordedWork {
  readonly arrivals: readonly RecordedArrival[];
  readonly models: ReadonlyMap<string, RecordedModel>;
}

/** Where nothing at all is known of a model. */
const WORK_GUESS_MS = 5_000;
const LOAD_GUESS_MS = 30_000;

const OWN_ENDS = new Set(["succeeded", "refused", "busy", "lost", "failed"]);

export function recordedWork(traffic: Traffic): RecordedWork {
  const names = new Set<string>([
    ...traffic.setups.flatMap(({ setup }) => Object.keys(setup.models)),
    ...traffic.jobs.map(({ model }) => model),
  ]);
  const arrivals = new Map<PastJob, RecordedArrival>();
  const models = new Map<string, RecordedModel>();
  const unloads = recordedUnloads(traffic);
  for (const name of names) {
    const jobs = traffic.jobs.filter(({ model }) => model === name);
    const { works, ...measured } = measure(jobs);
    for (const [job, work] of works) arrivals.set(job, arrivalOf(job, work, measured.medianWorkMs));
    const loads = loadsOf(traffic, name);
    models.set(name, {
      name,
      ...measured,
      loads,
      loadMs:
        median(traffic.learned.filter((load) => load.model === name).map(tookMs)) ?? configuredLoadMs(traffic, name),
      unloads: unloads.filter(({ model }) => model === name).map(({ fromMs, toMs }) => toMs - fromMs),
    });
  }
  return { arrivals: traffic.jobs.flatMap((job) => arrivals.get(job) ?? []), models };
}

interface Measured {
  readonly works: ReadonlyMap<PastJob, readonly number[]>;
  readonly slowdownPerJob: number;
  readonly slowdownMeasured: boolean;
  readonly medianWorkMs: number;
}

/** All runs of one model shared its engines, those of jobs that never got to an end too. */
function measure(jobs: readonly PastJob[]): Measured {
  const runs: Run[] = [];
  const places: { readonly job: PastJob; readonly run: PastRun }[] = [];
  const seenMs = jobs.reduce(
    (last, { runs: own }) => Math.max(last, own.at(-1)?.endedAtMs ?? own.at(-1)?.startedAtMs ?? 0),
    0,
  );
  for (const job of jobs) {
    for (const run of job.runs) {
      runs.push({ engine: run.instance, startedAtMs: run.startedAtMs, endedAtMs: run.endedAtMs ?? seenMs });
      places.push({ job, run });
    }
  }
  const { workMs, slowdownPerJob, measured } = workAlone(runs);
  const works = new Map<PastJob, number[]>(jobs.map((job) => [job, []]));
  for (const [i, { job }] of places.entries()) works.get(job)?.push(workMs[i] ?? 0);
  const whole = places.flatMap(({ run }, i) => (run.outcome === "succeeded" ? [workMs[i] ?? 0] : []));
  return { works, slowdownPerJob, slowdownMeasured: measured, medianWorkMs: median(whole) ?? WORK_GUESS_MS };
}

function arrivalOf(job: PastJob, workMs: readonly number[], medianWorkMs: number): RecordedArrival {
  const runs = job.runs.flatMap(({ outcome }, i): RecordedRun[] =>
    outcome !== null && OWN_ENDS.has(outcome)
      ? [{ workMs: workMs[i] ?? 0, ends: outcome as Exclude<RunOutcome["kind"], "aborted"> }]
      : [],
  );
  const last = job.runs.at(-1);
  // Cut off by its caller, by a swap or by the router's end: it would have run on.
  if (last === undefined || last.outcome === null || !OWN_ENDS.has(last.outcome))
    runs.push({ workMs: Math.max(medianWorkMs, workMs.at(-1) ?? 0), ends: "succeeded" });
  return { job, runs, leaves: leavesOf(job) };
}

/** A deadline is the engine's own matter and comes again by itself. */
function leavesOf({ status, reason, finishedAtMs, runs }: PastJob): RecordedArrival["leaves"] {
  if (finishedAtMs === null) return null;
  if (status === "cancelled" && reason !== "deadline") return { atMs: finishedAtMs, reason: reason as CancelReason };
  // It failed without having run: its model would not load, or was taken out.
  if (status === "failed" && runs.length === 0) return { atMs: finishedAtMs, reason: "admin" };
  return null;
}

/** Loads that were given up say nothing about how long they would have taken. */
function loadsOf({ loads }: Traffic, name: string): RecordedLoad[] {
  return loads.flatMap((load) => {
    if (load.model !== name || load.outcome === "abandoned") return [];
    return [{ tookMs: tookMs(load), ready: load.outcome === "ready", tier: load.tier ?? "cold" }];
  });
}

const tookMs = (load: { readonly startedAtMs: number; readonly endedAtMs: number }): number =>
  load.endedAtMs - load.startedAtMs;

function configuredLoadMs({ setups }: Traffic, name: string): number {
  const seconds = setups.findLast(({ setup }) => setup.models[name] !== undefined)?.setup.models[name]?.["loadSeconds"];
  return typeof seconds === "number" ? seconds * 1_000 : LOAD_GUESS_MS;
}

export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
