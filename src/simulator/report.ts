// What a run came to: the founding essay's lines for people, and one object for machines.

import type { ReplayRun } from "./replay.ts";
import { fixed, percentile, type Rounding, round } from "./rounding.ts";

export interface ModelReport {
  readonly model: string;
  readonly submitted: number;
  readonly served: number;
  readonly meanWaitSeconds: number;
  readonly p50WaitSeconds: number;
  readonly p99WaitSeconds: number;
  readonly maxWaitSeconds: number;
}

export interface RunReport {
  readonly workload: string;
  readonly policy: string;
  readonly title: string;
  readonly models: readonly ModelReport[];
  readonly submitted: number;
  readonly served: number;
  readonly swaps: number;
  readonly loads: number;
  readonly failedLoads: number;
  readonly loadingSeconds: number;
  /** Share of the time in which the device neither loaded nor served. */
  readonly idleShare: number;
  readonly elapsedSeconds: number;
}

export function reportOf(run: ReplayRun, rounding: Rounding): RunReport {
  const models = run.workload.models.map((model): ModelReport => {
    const jobs = run.jobs.filter((job) => job.model === model.name);
    const waits = jobs
      .flatMap((job) => (job.startedAtMs === null ? [] : [(job.startedAtMs - job.arrivedAtMs) / 1_000]))
      .sort((a, b) => a - b);
    return {
      model: model.name,
      submitted: jobs.length,
      served: jobs.filter((job) => job.status === "succeeded").length,
      meanWaitSeconds: waits.length === 0 ? 0 : waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
      p50WaitSeconds: percentile(waits, 50, rounding),
      p99WaitSeconds: percentile(waits, 99, rounding),
      maxWaitSeconds: waits.at(-1) ?? 0,
    };
  });
  const loadingMs = run.loads.reduce((sum, load) => sum + load.tookMs, 0);
  return {
    workload: run.workload.name,
    policy: run.policy,
    title: run.title,
    models,
    submitted: run.jobs.length,
    served: run.jobs.filter((job) => job.status === "succeeded").length,
    swaps: run.swaps,
    loads: run.loads.filter((load) => load.outcome === "ready").length,
    failedLoads: run.loads.filter((load) => load.outcome !== "ready").length,
    loadingSeconds: loadingMs / 1_000,
    idleShare: run.elapsedMs === 0 ? 0 : 1 - (loadingMs + run.servingMs) / run.elapsedMs,
    elapsedSeconds: run.elapsedMs / 1_000,
  };
}

/** The essay's lines: one a model, then swaps, loads, loading, idle and elapsed. */
export function reportLines(report: RunReport, rounding: Rounding): string[] {
  const width = Math.max(12, ...report.models.map(({ model }) => model.length));
  const seconds = (value: number): string => `${fixed(value, rounding).padStart(6)}s`;
  const models = report.models.map(
    (each) =>
      `  ${each.model.padEnd(width)} wait p50 ${seconds(each.p50WaitSeconds)}  p99 ${seconds(each.p99WaitSeconds)}` +
      `  max ${seconds(each.maxWaitSeconds)}  served ${each.served}/${each.submitted}`,
  );
  const idle = round(report.idleShare * 100, rounding);
  const failed = report.failedLoads === 0 ? "" : `   failed loads ${report.failedLoads}`;
  return [
    ...models,
    `  swaps ${report.swaps}   loads ${report.loads}   loading ${fixed(report.loadingSeconds, rounding)}s` +
      `   gpu idle ${idle}%   elapsed ${fixed(report.elapsedSeconds, rounding)}s${failed}`,
  ];
}
