// What a run came to in figures that can be compared: waits by band, weighted by how much a band's second matters, and
// what was spent on loading. Jobs that never ran count with the wait they had when the run was given up.

import { BAND_WEIGHT, BANDS, type Band, bandOf } from "../domain/band.ts";
import type { JobRun, ReplayRun } from "./replay.ts";
import { percentile } from "./rounding.ts";

/** An answer is late so long after its arrival. */
const DUE_SECONDS: Readonly<Record<Band, number>> = { interactive: 300, normal: 3_600, batch: 28_800 };

export interface BandScore {
  readonly jobs: number;
  readonly meanWaitSeconds: number;
  readonly p50WaitSeconds: number;
  readonly p99WaitSeconds: number;
  readonly maxWaitSeconds: number;
  /** Share of its jobs that ended too late or not at all: 5 min, 1 h, 8 h after arrival. */
  readonly deadlineMissShare: number;
}

export interface Score {
  readonly jobs: number;
  /** 10 : 1 : 0.1 for each interactive, normal and batch job. */
  readonly weightedMeanWaitSeconds: number;
  readonly meanWaitSeconds: number;
  readonly maxWaitSeconds: number;
  /** Null: no such jobs. */
  readonly bands: Readonly<Record<Band, BandScore | null>>;
  readonly deadlineMissShare: number;
  readonly swaps: number;
  readonly loads: number;
  /** Loads, and unloads that made room. */
  readonly loadingSeconds: number;
  /** Of the span of one device. */
  readonly loadingShare: number;
  /** From the first arrival to the last end; to where the run was given up when jobs were left. */
  readonly spanSeconds: number;
  /** Jobs that never ran. */
  readonly unserved: number;
}

export function scoreOf(run: ReplayRun): Score {
  const bands = { interactive: null, normal: null, batch: null } as Record<Band, BandScore | null>;
  let weighted = 0;
  let weights = 0;
  let late = 0;
  for (const band of BANDS) {
    const jobs = run.jobs.filter((job) => bandOf(job.priority) === band);
    const scored = bandScore(jobs, band, run.elapsedMs);
    if (scored === null) continue;
    bands[band] = scored;
    weighted += BAND_WEIGHT[band] * scored.meanWaitSeconds * jobs.length;
    weights += BAND_WEIGHT[band] * jobs.length;
    late += scored.deadlineMissShare * jobs.length;
  }
  const total = run.jobs.length;
  const waits = run.jobs.map((job) => waitSeconds(job, run.elapsedMs));
  const loadingSeconds = (run.loads.reduce((sum, { tookMs }) => sum + tookMs, 0) + run.unloadingMs) / 1_000;
  const spanSeconds = spanOf(run);
  return {
    jobs: total,
    weightedMeanWaitSeconds: weights === 0 ? 0 : weighted / weights,
    meanWaitSeconds: total === 0 ? 0 : waits.reduce((sum, wait) => sum + wait, 0) / total,
    maxWaitSeconds: waits.reduce((most, wait) => Math.max(most, wait), 0),
    bands,
    deadlineMissShare: total === 0 ? 0 : late / total,
    swaps: run.swaps,
    loads: run.loads.filter(({ outcome }) => outcome === "ready").length,
    loadingSeconds,
    loadingShare: spanSeconds === 0 ? 0 : loadingSeconds / spanSeconds,
    spanSeconds,
    unserved: run.jobs.filter(({ startedAtMs }) => startedAtMs === null).length,
  };
}

function bandScore(jobs: readonly JobRun[], band: Band, endMs: number): BandScore | null {
  if (jobs.length === 0) return null;
  const waits = jobs.map((job) => waitSeconds(job, endMs)).sort((a, b) => a - b);
  const dueMs = DUE_SECONDS[band] * 1_000;
  const late = jobs.filter(({ arrivedAtMs, finishedAtMs }) => (finishedAtMs ?? Infinity) > arrivedAtMs + dueMs);
  return {
    jobs: jobs.length,
    meanWaitSeconds: waits.reduce((sum, wait) => sum + wait, 0) / jobs.length,
    p50WaitSeconds: percentile(waits, 50, "half-up"),
    p99WaitSeconds: percentile(waits, 99, "half-up"),
    maxWaitSeconds: waits.at(-1) ?? 0,
    deadlineMissShare: late.length / jobs.length,
  };
}

function waitSeconds({ arrivedAtMs, startedAtMs }: JobRun, endMs: number): number {
  // Instants are sums of doubles: a job that starts at once may seem to start a hair before it came.
  return Math.max(0, (startedAtMs ?? endMs) - arrivedAtMs) / 1_000;
}

function spanOf({ jobs, elapsedMs }: ReplayRun): number {
  const firstMs = jobs.reduce((first, job) => Math.min(first, job.arrivedAtMs), Infinity);
  const lastMs = jobs.reduce((last, job) => Math.max(last, job.finishedAtMs ?? elapsedMs), 0);
  return jobs.length === 0 ? 0 : (lastMs - firstMs) / 1_000;
}

/** Several runs as one: the mean of each figure, over those that have it. */
export function meanScore(scores: readonly Score[]): Score {
  const mean = (of: (score: Score) => number): number => average(scores.map(of));
  const bands = { interactive: null, normal: null, batch: null } as Record<Band, BandScore | null>;
  for (const band of BANDS) {
    const found = scores.flatMap((score) => score.bands[band] ?? []);
    if (found.length > 0) bands[band] = meanBand(found);
  }
  return {
    jobs: mean((score) => score.jobs),
    weightedMeanWaitSeconds: mean((score) => score.weightedMeanWaitSeconds),
    meanWaitSeconds: mean((score) => score.meanWaitSeconds),
    maxWaitSeconds: mean((score) => score.maxWaitSeconds),
    bands,
    deadlineMissShare: mean((score) => score.deadlineMissShare),
    swaps: mean((score) => score.swaps),
    loads: mean((score) => score.loads),
    loadingSeconds: mean((score) => score.loadingSeconds),
    loadingShare: mean((score) => score.loadingShare),
    spanSeconds: mean((score) => score.spanSeconds),
    unserved: mean((score) => score.unserved),
  };
}

function meanBand(found: readonly BandScore[]): BandScore {
  const mean = (of: (score: BandScore) => number): number => average(found.map(of));
  return {
    jobs: mean((score) => score.jobs),
    meanWaitSeconds: mean((score) => score.meanWaitSeconds),
    p50WaitSeconds: mean((score) => score.p50WaitSeconds),
    p99WaitSeconds: mean((score) => score.p99WaitSeconds),
    maxWaitSeconds: mean((score) => score.maxWaitSeconds),
    deadlineMissShare: mean((score) => score.deadlineMissShare),
  };
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Standard deviation between seeds (n - 1); 0 for a single one. */
export function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = average(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
