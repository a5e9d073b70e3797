import { describe, expect, it } from "vitest";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { type Run, SLOWDOWN_GUESS, workAlone } from "../../src/simulator/work-alone.ts";

/** Eight slots, a queue that is sometimes empty, lengths that differ widely: played exactly, in small steps. */
function played(slowdown: number, jobs: number, seed: number): { runs: Run[]; workMs: number[] } {
  const seeded = createSeeded(seed);
  const arrivals: { atMs: number; workMs: number }[] = [];
  for (let atMs = 0; arrivals.length < jobs; atMs += seeded.exponential(4_000))
    arrivals.push({ atMs, workMs: seeded.logNormal(8_000, 0.8) });
  const runs: Run[] = [];
  let inFlight: { job: number; leftMs: number; startedAtMs: number }[] = [];
  let next = 0;
  const stepMs = 20;
  for (let nowMs = 0; next < jobs || inFlight.length > 0; nowMs += stepMs) {
    while (next < jobs && inFlight.length < 8 && (arrivals[next]?.atMs ?? 0) <= nowMs)
      inFlight.push({ job: next, leftMs: arrivals[next++]?.workMs ?? 0, startedAtMs: nowMs });
    const rate = 1 / (1 + slowdown * (inFlight.length - 1));
    for (const each of inFlight) {
      each.leftMs -= stepMs * rate;
      if (each.leftMs <= 0) runs[each.job] = { engine: "a", startedAtMs: each.startedAtMs, endedAtMs: nowMs + stepMs };
    }
    inFlight = inFlight.filter(({ leftMs }) => leftMs > 0);
  }
  return { runs, workMs: arrivals.map(({ workMs }) => workMs) };
}

describe("work alone", () => {
  it("is the time it took where nothing ran beside it", () => {
    const found = workAlone([
      { engine: "a", startedAtMs: 10, endedAtMs: 110 },
      { engine: "b", startedAtMs: 10, endedAtMs: 60 },
    ]);

    expect(found).toEqual({ workMs: [100, 50], slowdownPerJob: SLOWDOWN_GUESS, measured: false });
  });

  it("is the integral of the rate over a run's changing company", () => {
    const found = workAlone(
      [
        { engine: "a", startedAtMs: 0, endedAtMs: 300 },
        { engine: "a", startedAtMs: 100, endedAtMs: 200 },
      ],
      1,
    );

    expect(found.workMs).toEqual([250, 50]);
  });

  it.each([0.15, 0.3])(
    "slowed by %d for each other job is found, although long runs outlive their company",
    (slowdown) => {
      const { runs, workMs } = played(slowdown, 3_000, 7);

      const found = workAlone(runs);

      expect(found.measured).toBe(true);
      expect(Math.abs(found.slowdownPerJob - slowdown)).toBeLessThan(0.04);
      const error = found.workMs.map((each, i) => Math.abs(each / (workMs[i] ?? 1) - 1)).sort((a, b) => a - b);
      expect(error[Math.floor(error.length / 2)]).toBeLessThan(0.1);
    },
  );

  it("is guessed from where others were measured while the runs do not speak against it", () => {
    const { runs } = played(0.05, 300, 7);

    expect(workAlone(runs)).toMatchObject({ slowdownPerJob: SLOWDOWN_GUESS, measured: false });
  });

  it("of a run that took no time is nothing", () => {
    expect(
      workAlone([
        { engine: "a", startedAtMs: 5, endedAtMs: 5 },
        { engine: "a", startedAtMs: 5, endedAtMs: 5 },
      ]).workMs,
    ).toEqual([0, 0]);
  });
});
