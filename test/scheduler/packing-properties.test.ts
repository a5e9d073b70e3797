// What holds for every policy when several models share a device.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import type { ModelView, Snapshot } from "../../src/scheduler/snapshot.ts";
import { claims, DEVICE_GIB, packed } from "./packed.ts";

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
