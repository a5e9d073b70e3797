// Any device with several models on it, under any policy.

import fc from "fast-check";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import type { ModelView, Snapshot } from "../../src/scheduler/snapshot.ts";
import { anyPolicy, NOW } from "./snapshots.ts";
import { model, named, resident, snapshot } from "./views.ts";

const NAMES = ["A", "B", "C", "D", "E", "F"];
export const DEVICE_GIB = 80;

const draft = fc.record({
  jobs: fc.uniqueArray(
    fc.record({
      id: fc.integer({ min: 1, max: 1_000_000 }),
      atMs: fc.integer({ min: NOW - 200_000, max: NOW }),
      priority: fc.constantFrom(0, 100, -100),
    }),
    { maxLength: 3, selector: ({ id }) => id },
  ),
  memoryGiB: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 5, max: 60 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  loadMs: fc.constantFrom(1_000, 20_000, 300_000),
  inFlight: fc.constantFrom(0, 0, 1, 8),
  pinned: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  paused: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  wanted: fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom("operator", "pinned", "keep_ready", "restore") },
  ),
  unloadAfterMs: fc.constantFrom(null, 10_000),
  idleForMs: fc.constantFrom(0, 5_000, 5_000, 60_000),
  sinceMs: fc.integer({ min: 0, max: NOW }),
  dispatched: fc.constantFrom(0, 1, 5),
  forced: fc.boolean(),
  loaded: fc.boolean(),
});

/** Up to six models on one device, with as many loaded as fit and may be together. */
function packedFor(policy: BoundPolicy): fc.Arbitrary<Snapshot> {
  const apart = fc.subarray(["A", "B", "C", "D"], { minLength: 0, maxLength: 3 });
  return fc.record({ drafts: fc.array(draft, { minLength: 2, maxLength: 6 }), apart }).map(({ drafts, apart }) => {
    const views: ModelView[] = [];
    const residents: ReturnType<typeof resident>[] = [];
    for (const [order, { idleForMs, sinceMs, dispatched, forced, loaded, inFlight, ...rest }] of drafts.entries()) {
      const name = NAMES[order] ?? "A";
      const others = apart.length > 1 && apart.includes(name) ? apart.filter((each) => each !== name).map(named) : [];
      const here = residents.map((each) => each.model);
      const taken = views.filter((each) => here.includes(each.model));
      const fits = loaded && claims([...taken, { memoryGiB: rest.memoryGiB }]) <= DEVICE_GIB;
      const isHere = fits && !others.some((each) => here.includes(each));
      views.push(
        model(name, {
          ...rest,
          order,
          inFlight: isHere ? inFlight : 0,
          ranking: policy.ranking,
          ...(others.length > 0 ? { apartFrom: others } : {}),
        }),
      );
      if (!isHere) continue;
      const idle = rest.jobs.length === 0 && inFlight === 0;
      residents.push(resident(name, { sinceMs, dispatched, forced, idleSinceMs: idle ? NOW - idleForMs : null }));
    }
    return snapshot(NOW, views, { memoryGiB: DEVICE_GIB, residents });
  });
}

export function claims(models: readonly Pick<ModelView, "memoryGiB">[]): number {
  return models.length === 1
    ? (models[0]?.memoryGiB ?? DEVICE_GIB)
    : models.reduce((sum, { memoryGiB }) => sum + (memoryGiB ?? DEVICE_GIB + 1), 0);
}

export const packed = anyPolicy.chain((policy) => packedFor(policy).map((at) => [policy, at] as const));
