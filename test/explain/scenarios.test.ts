// Under every rule, the one that thrashes too: each explanation of each job is whole and true.

import { describe, expect, it } from "vitest";
import type { SimulationSettings } from "../../src/simulator/assembly.ts";
import { founding, live } from "../../src/simulator/presets.ts";
import { replay, type Watching } from "../../src/simulator/replay.ts";
import { SCENARIOS } from "../../src/simulator/scenarios.ts";
import { faultsOf, splitOf } from "../world/explained.ts";

const RUNS: readonly (readonly [keyof typeof SCENARIOS, SimulationSettings])[] = [
  ["essay", founding(0)],
  ["essay", founding(30)],
  ["essay", live(30)],
  ["rare", live(0)],
  ["bursts", founding(0)],
  ["three", live(30)],
  ["three", founding(0)],
  ["collation", { title: "fifo, strict", scheduler: { policy: "fifo", strict: true } }],
  ["collation", { title: "serial", scheduler: { policy: "serial" } }],
  ["collation", { title: "serial, one by one", scheduler: { policy: "serial", batch: false } }],
  ["collation", { title: "stint", scheduler: { policy: "stint" } }],
];

describe("every explanation is whole and true", () => {
  it.each(RUNS.map(([name, settings]) => [name, settings.title, settings] as const))(
    "of %s under %s",
    async (name, _, settings) => {
      const faults: string[] = [];
      let seen = 0;
      let most = 0;
      const look: Watching["look"] = async ({ store, clock }, { jobs }) => {
        for (const { id } of jobs) {
          const job = await store.job(id);
          if (job === null) continue;
          seen++;
          most = Math.max(most, (await splitOf(store, job, clock.nowMs())).stretches.length);
          for (const fault of await faultsOf(store, job, clock.nowMs())) faults.push(`${id} ${fault}`);
        }
      };

      await replay(SCENARIOS[name], settings, { look });

      expect(faults.slice(0, 5)).toEqual([]);
      expect(seen).toBeGreaterThan(5);
      expect(most).toBeGreaterThan(1);
    },
    60_000,
  );
});
