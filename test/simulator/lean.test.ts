import { describe, expect, it } from "vitest";
import { homelab } from "../../src/simulator/homelab.ts";
import { poissonMix } from "../../src/simulator/mixes.ts";
import { replay } from "../../src/simulator/replay.ts";
import type { Workload } from "../../src/simulator/workload.ts";

/** What the mock driver can play too: whole tokens. */
const inTokens = (workload: Workload): Workload => ({
  ...workload,
  arrivals: workload.arrivals.map(({ workMs: _, ...arrival }) => arrival),
});

const WORKLOADS = [
  inTokens(poissonMix({ seed: 3, load: 0.6, hours: 0.25 })),
  inTokens(homelab({ seed: 4, hours: 6, times: 1 })),
];
const RULES = [
  { policy: "longest" },
  { policy: "fifo", strict: true },
  { policy: "serial" },
  { policy: "model-score", maxWaitSeconds: 900 },
];

describe("a lean run", () => {
  it.each(RULES)("starts and ends every job when the database and the mock driver do: %o", async (scheduler) => {
    for (const workload of WORKLOADS) {
      const settings = { title: "", scheduler };

      const [whole, lean] = [await replay(workload, settings), await replay(workload, { ...settings, lean: true })];

      const told = ({ jobs, loads }: typeof whole): unknown => [
        jobs.map((job) => [job.model, job.status, round(job.startedAtMs), round(job.finishedAtMs)]),
        loads.map((load) => [load.model, round(load.endedAtMs), load.outcome]),
      ];
      expect(told(lean)).toEqual(told(whole));
      expect(lean.swaps).toBe(whole.swaps);
      expect(lean.swaps).toBeGreaterThan(2);
      expect(lean.decisions).toEqual([]);
    }
  });
});

/** To the hundredth of a ms: the two add up a job's length in different orders. */
function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 100) / 100;
}
