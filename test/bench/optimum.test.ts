import { describe, expect, it } from "vitest";
import { type Instance, leastCost } from "../../bench/optimum.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";

/** Every order of the jobs, each started as early as that order allows. */
function byTrying({ models, jobs }: Instance): number {
  const go = (left: readonly number[], loaded: number, nowMs: number, cost: number): number => {
    if (left.length === 0) return cost;
    return Math.min(
      ...left.map((next) => {
        const job = jobs[next];
        const model = models[job?.model ?? -1];
        if (job === undefined || model === undefined) return Number.POSITIVE_INFINITY;
        const wanted = Math.min(...left.filter((i) => jobs[i]?.model === job.model).map((i) => jobs[i]?.atMs ?? 0));
        const readyMs = loaded === job.model ? nowMs : Math.max(nowMs, wanted) + model.loadMs;
        const startMs = Math.max(readyMs, job.atMs);
        const rest = left.filter((i) => i !== next);
        return go(rest, job.model, startMs + model.workMs, cost + job.weight * (startMs - job.atMs));
      }),
    );
  };
  return go([...jobs.keys()], -1, 0, 0);
}

describe("the least cost of a small instance", () => {
  it("is what trying every order of its jobs finds", () => {
    for (let seed = 1; seed <= 25; seed++) {
      const seeded = createSeeded(seed);
      const models = [1, 2].map(() => ({ loadMs: seeded.uniform(10, 60), workMs: seeded.uniform(2, 15) }));
      let atMs = 0;
      const jobs = Array.from({ length: 6 }, () => {
        atMs += seeded.exponential(12);
        return { atMs, model: seeded.integer(0, 1), weight: seeded.pick([10, 1, 0.1]) };
      });

      const least = byTrying({ models, jobs });

      expect(leastCost({ models, jobs }, Number.POSITIVE_INFINITY)).toBeCloseTo(least, 6);
      expect(leastCost({ models, jobs }, least)).toBeCloseTo(least, 6);
    }
  });
});
