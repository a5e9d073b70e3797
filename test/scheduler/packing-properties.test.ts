// What holds for every policy when several models share a device.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import type { ModelView, Snapshot } from "../../src/scheduler/snapshot.ts";
import { anyPolicy, NOW } from "./snapshots.ts";
import { model, named, resident, snapshot } from "./views.ts";

const NAMES = ["A", "B", "C", "D", "E", "F"];
const DEVICE_GIB = 80;

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

function claims(models: readonly Pick<ModelView, "memoryGiB">[]): number {
  return models.length === 1
    ? (models[0]?.memoryGiB ?? DEVICE_GIB)
    : models.reduce((sum, { memoryGiB }) => sum + (memoryGiB ?? DEVICE_GIB + 1), 0);
}

const packed = anyPolicy.chain((policy) => packedFor(policy).map((at) => [policy, at] as const));

const check = (holds: (policy: BoundPolicy, at: Snapshot) => void): void =>
  fc.assert(
    fc.property(packed, ([policy, at]) => holds(policy, at)),
    { numRuns: 1_500 },
  );

const viewsOf = ({ models }: Snapshot, names: readonly string[]): ModelView[] =>
  models.filter((each) => names.includes(each.model));

/** What is loaded once the verdict is carried out. */
function after(at: Snapshot, { load, evict }: Pick<ReturnType<typeof decide>, "load" | "evict">): ModelView[] {
  const staying = at.device.residents.map((each) => each.model).filter((each) => !evict.includes(each));
  return viewsOf(at, load === null ? staying : [...staying, load]);
}

test("what is loaded together never claims more than the device has", () => {
  let moves = 0;
  check((policy, at) => {
    const verdict = decide(at, policy);
    if (verdict.load !== null) moves++;
    expect(claims(after(at, verdict))).toBeLessThanOrEqual(DEVICE_GIB);
  });
  expect(moves).toBeGreaterThan(200);
});

test("models that are never together never are", () => {
  check((policy, at) => {
    const loaded = after(at, decide(at, policy));
    for (const each of loaded) {
      expect(loaded.filter((other) => each.apartFrom?.includes(other.model))).toEqual([]);
    }
  });
});

test("a pinned model is never evicted, and nothing goes that could have stayed", () => {
  check((policy, at) => {
    const { load, evict, kind } = decide(at, policy);
    const victims = viewsOf(at, evict);
    if (kind !== "unload") expect(victims.filter(({ pinned }) => pinned)).toEqual([]);
    const target = at.models.find((each) => each.model === load);
    if (target === undefined) return;
    for (const victim of victims) {
      if (target.apartFrom?.includes(victim.model)) continue;
      const others = after(at, { load, evict: evict.filter((each) => each !== victim.model) });
      expect(claims(others)).toBeGreaterThan(DEVICE_GIB);
    }
  });
});

test("a loaded model with work that has started nothing goes for nobody but an operator", () => {
  check((policy, at) => {
    if (policy.guards.serveBeforeSwap === false) return;
    const { evict, reason } = decide(at, policy);
    const fresh = at.device.residents.filter(({ dispatched }) => dispatched === 0).map((each) => each.model);
    const unserved = viewsOf(at, fresh).filter(({ depth, paused }) => depth > 0 && !paused);
    if (reason !== "operator") expect(unserved.filter(({ model }) => evict.includes(model))).toEqual([]);
  });
});

test("what fits at once never waits for a place that others hold, unless the order is exact", () => {
  check((policy, at) => {
    if (policy.settings?.["strict"] === true || policy.settings?.["batch"] === false) return;
    const { kind, models, against } = decide(at, policy);
    const fitting = [...against].filter(([name, victims]) => {
      return victims.length === 0 && models.find((each) => each.model === name)?.eligible === true;
    });
    if (fitting.length > 0) expect(["load", "swap", "preload", "unload"]).toContain(kind);
  });
});

test("the order in which models and residents stand in a snapshot changes nothing", () => {
  const shuffled = packed.chain(([policy, at]) =>
    fc.record({
      policy: fc.constant(policy),
      at: fc.constant(at),
      models: fc.shuffledSubarray([...at.models], { minLength: at.models.length }),
      residents: fc.shuffledSubarray([...at.device.residents], { minLength: at.device.residents.length }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ policy, at, models, residents }) => {
      const of = (each: Snapshot): unknown => {
        const { kind, reason, load, evict, nextLookAtMs, serve, serves } = decide(each, policy);
        return { kind, reason, load, evict: [...evict].sort(), nextLookAtMs, serve, serves: [...serves].sort() };
      };
      expect(of({ ...at, models, device: { ...at.device, residents } })).toEqual(of(at));
    }),
    { numRuns: 2_000 },
  );
});
