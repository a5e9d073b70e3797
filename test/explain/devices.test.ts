// Several devices, several models side by side, loads that fail: each explanation is whole and true there too.

import { expect, it } from "vitest";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { given } from "../given.ts";
import { faultsOf } from "../world/explained.ts";

const model = (memoryGiB: number, loadMs: number, backend = {}) => ({
  loadMs,
  config: { memoryGiB, concurrency: 2, device: ["gpu0"] },
  backend,
});

it.each([1, 2, 3, 4])(
  "of an hour with packed devices and failing loads, seed %i",
  async (seed) => {
    const world = await given({
      seed,
      policy: seed % 2 === 0 ? "model-score" : "stint",
      devices: { gpu0: { memoryGiB: 48 }, gpu1: { memoryGiB: 24 } },
      models: {
        large: model(40, 30_000),
        middle: { ...model(20, 12_000), config: { memoryGiB: 20, concurrency: 2 } },
        small: { ...model(8, 4_000), config: { memoryGiB: 8, concurrency: 4 } },
        flaky: { ...model(12, 6_000, { failLoads: 3 }), config: { memoryGiB: 12, concurrency: 1 } },
      },
    });
    const seeded = createSeeded(seed);
    const arrived = Array.from({ length: 300 }, () =>
      world.arrive(seeded.pick(["large", "middle", "small", "small", "flaky"]), {
        atMs: Math.floor(seeded.uniform(0, 3_600_000)),
        tokens: seeded.integer(16, 1_500),
      }),
    );
    await world.runUntilIdle();
    await world.answer(world.store.ping());

    const faults: string[] = [];
    const causes = new Set<string>();
    for (const { id } of arrived) {
      if (id === null) continue;
      const job = await world.job(id);
      for (const { cause } of job.spent?.parts ?? []) causes.add(cause);
      for (const fault of await faultsOf(world.store, job, world.clock.nowMs())) faults.push(`${id} ${fault}`);
    }

    expect(faults.slice(0, 5)).toEqual([]);
    expect([...causes]).toEqual(expect.arrayContaining(["running", "loading", "own_queue", "held", "model_broken"]));
  },
  60_000,
);
