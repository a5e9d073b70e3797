// A slice of recorded traffic through the live engine, and the arithmetic of what it says.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { ModelName } from "../../src/domain/ids.ts";
import { splitLife } from "../../src/domain/partition.ts";
import type { SimulationSettings } from "../../src/simulator/assembly.ts";
import { azureAndMooncake, missingTraces, servegen } from "../../src/simulator/recorded.ts";
import { replay, type Watching } from "../../src/simulator/replay.ts";
import { reportLines, reportOf } from "../../src/simulator/report.ts";
import { readTrace, writeTrace } from "../../src/simulator/trace.ts";
import { offeredLoad } from "../../src/simulator/workload.ts";

const folder = process.env["SIR_TRACES"] ?? resolve(import.meta.dirname, "../../../shared/traces");
const missing = existsSync(folder) ? missingTraces(folder).map((file) => join(folder, file)) : [folder];
const absent = `recorded traces are not here (${missing.join(", ")}); set SIR_TRACES to their folder`;
if (missing.length > 0) process.stderr.write(`\nSKIPPED: ${absent}\n`);

const SETTINGS: SimulationSettings = {
  title: "model-score",
  scheduler: { policy: "model-score", maxWaitSeconds: 900, minResidencySeconds: 30 },
};

describe("a quarter of an hour of Azure and Mooncake", () => {
  it("is served whole, and its arithmetic adds up", async (context) => {
    if (missing.length > 0) context.skip(absent);
    const workload = azureAndMooncake(folder, { seed: 1, fromMinute: 10, toMinute: 25 });

    const look: Watching["look"] = async ({ store, engine, clock }, { jobs }) => {
      for (const { id } of jobs) {
        const job = await store.job(id);
        if (job === null) throw new Error(`${id} is not stored`);
        const waits = await store.waits(job.model, job.acceptedAtMs, clock.nowMs());
        const attempts = await store.attempts(id);
        const split = splitLife({ job, nowMs: clock.nowMs(), attempts, waits, downtimes: [] });
        const partsMs = split.stretches.reduce((sum, part) => sum + part.toMs - part.fromMs, 0);
        const runMs = split.stretches
          .filter(({ cause }) => cause === "running")
          .reduce((sum, part) => sum + part.toMs - part.fromMs, 0);
        expect(partsMs).toBe(split.totalMs);
        expect(Math.abs(partsMs - runMs - (job.dispatch?.queueWaitMs ?? Number.NaN))).toBeLessThanOrEqual(1);
        expect(split.unexplainedMs).toBe(0);
        expect(split.doubledMs).toBe(0);
      }
      expect(engine.status().queued + engine.status().running).toBe(0);
    };
    const run = await replay(workload, SETTINGS, { look });

    const report = reportOf(run, "half-up");
    process.stdout.write(`\n${workload.name}: ${workload.source}\n${reportLines(report, "half-up").join("\n")}\n`);
    expect(report.submitted).toBe(workload.arrivals.length);
    expect(report.submitted).toBeGreaterThan(250);
    expect(report.served).toBe(report.submitted);
    expect(report.models.reduce((sum, { served }) => sum + served, 0)).toBe(report.served);
    expect(report.loadingSeconds * 1_000).toBeCloseTo(
      run.loads.reduce((sum, { tookMs }) => sum + tookMs, 0),
      3,
    );
    expect(report.loads).toBe(report.swaps + 1);
    expect(run.servingMs + report.loadingSeconds * 1_000).toBeLessThanOrEqual(run.elapsedMs);
  });

  it("comes out the same each time, and from its own trace file", async (context) => {
    if (missing.length > 0) context.skip(absent);
    const workload = azureAndMooncake(folder, { seed: 2, fromMinute: 30, toMinute: 36 });
    const waits = async (from: typeof workload): Promise<unknown> =>
      (await replay(from, SETTINGS)).jobs.map((job) => [job.model, job.startedAtMs, job.finishedAtMs]);

    const first = await waits(workload);

    expect(await waits(workload)).toEqual(first);
    expect(await waits(readTrace(writeTrace(workload)))).toEqual(first);
  });
});

describe("recorded services", () => {
  it("are thinned to the scale of one device", (context) => {
    if (missing.length > 0) context.skip(absent);

    const hour = azureAndMooncake(folder, { seed: 1, fromMinute: 0, toMinute: 60 });
    const days = servegen(folder, { seed: 1, fromDay: 2, days: 3, jobsPerDay: 90 });

    expect(hour.arrivals.length).toBeGreaterThan(1_400);
    expect(hour.arrivals.length).toBeLessThan(1_800);
    expect(offeredLoad(hour)).toBeGreaterThan(0.4);
    expect(offeredLoad(hour)).toBeLessThan(0.7);
    expect(days.arrivals.length).toBeGreaterThan(2_700);
    expect(new Set(days.arrivals.map(({ model }) => model as ModelName)).size).toBe(6);
    expect(days.arrivals.every(({ atMs }, i) => i === 0 || atMs >= (days.arrivals[i - 1]?.atMs ?? 0))).toBe(true);
  });

  it("give other coins for another seed, and the same jobs for the same", (context) => {
    if (missing.length > 0) context.skip(absent);
    const jobs = (seed: number) => azureAndMooncake(folder, { seed, fromMinute: 0, toMinute: 10 }).arrivals;

    expect(jobs(4)).toEqual(jobs(4));
    expect(jobs(4)).not.toEqual(jobs(5));
  });
});
