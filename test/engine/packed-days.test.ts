// Random traffic on two devices with models of all sizes, one of them across both: whatever comes, memory is never claimed
// twice, what must not be together never is, and every job ends.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { MockFaults } from "../../src/backends/mock/faults.ts";
import { openRig } from "./rig.ts";

const NAMES = ["a", "b", "c", "d", "e", "wide"] as const;
const ONE_DEVICE = NAMES.slice(0, 5);

const model = fc.record({
  memoryGiB: fc.constantFrom(10, 20, 30, 45, 70, 80),
  loadSeconds: fc.constantFrom(1, 5, 20),
  concurrency: fc.constantFrom(1, 2, 8),
  unloadAfterSeconds: fc.constantFrom(null, null, 15),
});

const day = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  sizes: fc.tuple(model, model, model, model, model),
  wide: fc.record({ memoryGiB: fc.constantFrom(40, 100, 160), loadSeconds: fc.constantFrom(5, 20) }),
  apart: fc.subarray([...ONE_DEVICE], { minLength: 2, maxLength: 3 }),
  policy: fc.constantFrom(
    { policy: "fifo" },
    { policy: "longest" },
    { policy: "serial" },
    { policy: "stint" },
    { policy: "model-score", maxWaitSeconds: 120, minResidencySeconds: 5 },
  ),
  jobs: fc.array(
    fc.record({
      model: fc.constantFrom(...NAMES),
      atS: fc.integer({ min: 0, max: 200 }),
      tokens: fc.constantFrom(16, 64, 640),
      priority: fc.constantFrom(0, 100, -100),
    }),
    { minLength: 5, maxLength: 40 },
  ),
  dies: fc.array(fc.record({ model: fc.constantFrom(...NAMES), nth: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 2,
  }),
  fails: fc.array(fc.record({ model: fc.constantFrom(...NAMES), nth: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 2,
  }),
});

function faultsOf(fails: readonly { model: string; nth: number }[], dies: typeof fails): MockFaults {
  const has = (all: typeof fails, model: string, nth: number) =>
    all.some((each) => each.model === model && each.nth === nth);
  return {
    load: ({ model }, nth) => {
      if (has(fails, model, nth)) return { kind: "fail" };
      return has(dies, model, nth) ? { kind: "die_later", afterMs: 7_000 } : null;
    },
  };
}

test("memory is never claimed twice, models that must not be together never are, and every job ends", async () => {
  await fc.assert(
    fc.asyncProperty(day, async ({ seed, sizes, wide, apart, policy, jobs, dies, fails }) => {
      const models = Object.fromEntries(ONE_DEVICE.map((name, i) => [name, sizes[i] ?? {}]));
      const rig = await openRig({
        seed,
        devices: { gpu0: { memoryGiB: 80 }, gpu1: { memoryGiB: 80 } },
        models: { ...models, wide: { ...wide, device: ["gpu0", "gpu1"] } },
        scheduler: { ...policy, neverTogether: [apart] },
        faults: faultsOf(fails, dies),
      });
      const ids = jobs.map(({ model: name, atS, ...ask }) => rig.schedule(name, [atS], ask));

      for (let s = 0; s < 130; s++) {
        await rig.advance(2);
        for (const { models: loaded } of rig.engine.status().devices) {
          expect(loaded.filter((name) => apart.includes(name as never)).length).toBeLessThan(2);
        }
      }
      await rig.advance(2_000);

      expect(rig.faults).toEqual([]);
      expect(rig.ledger.violations).toEqual([]);
      expect(await rig.statuses(ids.flat())).toEqual(Array(jobs.length).fill("succeeded"));
    }),
    { numRuns: 15 },
  );
}, 300_000);
