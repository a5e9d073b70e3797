import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alternating, bursts, every, poisson, together } from "../../src/simulator/arrivals.ts";
import { live } from "../../src/simulator/presets.ts";
import { replay } from "../../src/simulator/replay.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { merge, simulatedModel } from "../../src/simulator/workload.ts";

const HOUR_MS = 3_600_000;
const spell = (jobs: readonly { atMs: number; model: string }[]): string =>
  jobs.map(({ atMs, model }) => `${model}${atMs}`).join(" ");

describe("made arrivals", () => {
  it("come at regular intervals, in turns, in bursts and all at once", () => {
    const [a, b] = [{ model: "a" }, { model: "b" }];

    expect(spell(every(a, 10, 3, 5))).toBe("a5 a15 a25");
    expect(spell(alternating([a, b], 10, 4))).toBe("a0 b10 a20 b30");
    expect(spell(bursts([a, b], { count: 3, size: 2, gapMs: 1, everyMs: 100 }))).toBe("a0 a1 b100 b101 a200 a201");
    expect(spell(together(["a", "b", "a"], 7))).toBe("a7 b7 a7");
  });

  it("come as a Poisson process: the right number on average, inside the interval, in order", () => {
    const seeded = createSeeded(1);
    const jobs = poisson(seeded, { model: "a" }, 60, HOUR_MS, 101 * HOUR_MS);

    expect(jobs.length).toBeGreaterThan(5_700);
    expect(jobs.length).toBeLessThan(6_300);
    expect(jobs.every(({ atMs }) => atMs >= HOUR_MS && atMs < 101 * HOUR_MS)).toBe(true);
    expect(jobs.every(({ atMs }, i) => i === 0 || atMs >= (jobs[i - 1]?.atMs ?? 0))).toBe(true);
  });
});

describe("any workload", () => {
  const POLICIES = [
    live(30),
    { title: "longest", scheduler: { policy: "longest" } },
    { title: "serial", scheduler: { policy: "serial" } },
    { title: "fifo", scheduler: { policy: "fifo" } },
    { title: "strict", scheduler: { policy: "fifo", strict: true } },
  ];
  const models = [
    simulatedModel("a", { loadMs: 20_000 }),
    simulatedModel("b"),
    simulatedModel("c", { concurrency: 1 }),
  ];

  it("is served whole under every policy, each load serving at least one job, no two jobs of one model out of order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.integer({ min: 10, max: 120 }),
        fc.constantFrom(...POLICIES),
        async (seed, perHour, settings) => {
          const seeded = createSeeded(seed);
          const streams = models.map(({ name }) =>
            poisson(seeded.fork(name), { model: name }, perHour, 0, HOUR_MS / 6),
          );
          const arrivals = merge(...streams);

          const run = await replay({ name: "any", source: "", models, arrivals, untilMs: null }, settings);

          expect(run.jobs.every(({ status }) => status === "succeeded")).toBe(true);
          expect(run.jobs.length).toBe(arrivals.length);
          expect(run.loads.length).toBeLessThanOrEqual(Math.max(0, arrivals.length));
          for (const { name } of models) {
            const starts = run.jobs.filter(({ model }) => model === name).map(({ startedAtMs }) => startedAtMs ?? 0);
            expect(starts).toEqual(starts.toSorted((x, y) => x - y));
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
