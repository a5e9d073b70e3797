// What holds for every policy, every setting and every snapshot.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { openAt } from "../../src/scheduler/forecast.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import type { ModelView, Snapshot } from "../../src/scheduler/snapshot.ts";
import { NOW, policyAndAnySnapshot, policyAndSnapshot, snapshotFor } from "./snapshots.ts";
import { model, resident, snapshot } from "./views.ts";

const check = <T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void, numRuns = 1_000): void =>
  fc.assert(
    fc.property(arbitrary, (value) => holds(value)),
    { numRuns },
  );

test("the order in which models stand in a snapshot changes nothing", () => {
  const shuffled = policyAndAnySnapshot.chain(([policy, at]) =>
    fc.tuple(fc.constant([policy, at] as const), fc.shuffledSubarray([...at.models], { minLength: at.models.length })),
  );
  check(shuffled, ([[policy, at], models]) => {
    const { models: rows, ...verdict } = decide(at, policy);
    const { models: otherRows, ...other } = decide({ ...at, models }, policy);
    expect(other).toEqual(verdict);
    expect(new Set(otherRows.map((each) => JSON.stringify(each)))).toEqual(
      new Set(rows.map((each) => JSON.stringify(each))),
    );
  });
});

test("a verdict is a function of its snapshot: it changes nothing and answers the same again", () => {
  check(policyAndAnySnapshot, ([policy, at]) => {
    const before = structuredClone(at);
    expect(decide(at, policy)).toEqual(decide(at, policy));
    expect(at).toEqual(before);
  });
});

test("only a model with demand, a wish or, while nothing waits, a forecast is loaded, never one that is resident, paused, backing off or too large", () => {
  check(policyAndSnapshot, ([policy, at]) => {
    const { kind, load, evict, reason } = decide(at, policy);
    const target = at.models.find((each) => each.model === load);
    expect(kind === "swap" || kind === "load" || kind === "preload").toBe(target !== undefined);
    if (target === undefined) return;
    const expected =
      openAt(target.forecast, at.nowMs, "acting") !== null && at.models.every(({ depth }) => depth === 0);
    expect(reason === "preload" ? expected : target.depth > 0 || target.wanted !== null).toBe(true);
    expect(target.paused || target.retryAtMs > at.nowMs).toBe(false);
    expect(evict).not.toContain(load);
    const staying = at.device.residents.map((each) => each.model).filter((model) => !evict.includes(model));
    if (at.device.memoryGiB === null || target.memoryGiB === null) expect(staying).toEqual([]);
    expect(claims(at, [target.model, ...staying])).toBeLessThanOrEqual(at.device.memoryGiB ?? Number.POSITIVE_INFINITY);
    expect(at.device.paused || at.device.blockedUntilMs > at.nowMs).toBe(false);
  });
});

/** What these models claim of the device together; one that claims no figure claims all of it. */
function claims({ models, device }: Snapshot, names: readonly string[]): number {
  const each = models.filter(({ model }) => names.includes(model));
  return each.reduce((sum, { memoryGiB }) => sum + (memoryGiB ?? device.memoryGiB ?? 0), 0);
}

test("a pinned model is never evicted, and a broken one is never forced in", () => {
  check(policyAndSnapshot, ([policy, at]) => {
    const { evict, load, reason } = decide(at, policy);
    const of = (name: string | null | undefined): ModelView | undefined =>
      at.models.find((each) => each.model === name);
    expect(of(evict[0])?.pinned ?? false).toBe(false);
    expect(reason === "ceiling" && of(load)?.broken === true).toBe(false);
  });
});

test("a loaded model with work that has started nothing is swapped for nobody but an operator", () => {
  check(policyAndSnapshot, ([policy, at]) => {
    const here = at.device.residents[0];
    const view = at.models.find((each) => each.model === here?.model);
    if (policy.guards.serveBeforeSwap === false || here?.dispatched !== 0) return;
    if (view === undefined || view.depth === 0 || view.paused || view.broken || view.retryAtMs > at.nowMs) return;
    const { kind, reason, evict, serve } = decide(at, policy);
    // What fits beside it may come; it itself stays.
    expect(evict.includes(view.model) && reason !== "operator", `${policy.name} ${kind} ${reason}`).toBe(false);
    const free = kind === "hold" && view.inFlight === 0 && !at.device.paused;
    if (free) expect(serve).toBeGreaterThan(0);
  });
});

test("with no guard in the way, an eligible model waits for nothing when the device is empty", () => {
  check(policyAndSnapshot, ([policy, at]) => {
    if (at.device.residents.length > 0 || at.device.paused || at.device.blockedUntilMs > at.nowMs) return;
    const { kind, models } = decide(at, policy);
    if (models.some((each) => each.eligible && each.depth > 0))
      expect(kind === "load" || kind === "preload").toBe(true);
  });
});

test("the addends of each score add up, and nothing in a verdict is not a number", () => {
  check(policyAndAnySnapshot, ([policy, at]) => {
    const verdict = decide(at, policy);
    expect(verdict.models).toHaveLength(at.models.length);
    for (const { score, terms, switchCost, oldestWaitMs } of verdict.models) {
      const sum = Object.values(terms).reduce((a, b) => a + b, 0) - switchCost;
      // Stint's terms are what it weighs in several ways; the score is one of them.
      if (policy.name !== "stint") expect(score ?? sum).toBeCloseTo(sum, 6);
      expect([...Object.values(terms), switchCost, score ?? 0].every(Number.isFinite) && oldestWaitMs >= 0).toBe(true);
    }
  });
});

test("under model-score waiting longer never lowers a score", () => {
  const policy = bindPolicy("model-score", {});
  check(fc.tuple(snapshotFor(policy), fc.nat({ max: 1e7 })), ([at, laterMs]) => {
    const before = decide(at, policy).models;
    const after = decide({ ...at, nowMs: at.nowMs + laterMs }, policy).models;
    before.forEach(({ score }, i) => {
      expect((after[i]?.score ?? 0) - (score ?? 0)).toBeGreaterThanOrEqual(-1e-9);
    });
  });
});

test("affinity alone never puts a job of a lower band before one of a higher", () => {
  const prioritiesOf = { interactive: [100, 101, 102], normal: [0, 1, 2], batch: [-100, -99, -98] };
  const choice = fc.record({
    high: fc.constantFrom(...prioritiesOf.interactive, ...prioritiesOf.normal),
    bonus: fc.nat({ max: 97 }),
    atMs: fc.nat({ max: NOW }),
    low: fc.nat({ max: 2 }),
    agingDivisorSeconds: fc.constantFrom(0, 60),
  });
  check(choice, ({ high, bonus, atMs, low, agingDivisorSeconds }) => {
    const policy = bindPolicy("serial", { swapAffinityBonus: bonus, agingDivisorSeconds });
    const { ranking } = policy;
    const lower = high >= 100 ? (prioritiesOf.normal[low] ?? 0) : (prioritiesOf.batch[low] ?? 0);
    const models = [
      model("A", { jobs: [{ id: 1, atMs, priority: lower }], ranking }),
      model("B", { jobs: [{ id: 2, atMs, priority: high }], ranking }),
    ];
    expect(decide(snapshot(NOW, models, { residents: [resident("A")] }), policy).load).toBe("B");
  });
});

test("serial's constant keys order jobs exactly as its scores do", () => {
  const policies = fc.record({
    agingDivisorSeconds: fc.constantFrom(1, 60, 3_600),
    swapAffinityBonus: fc.nat({ max: 99 }),
  });
  const some = policies.chain((raw) => {
    const policy = bindPolicy("serial", { ...raw, serveBeforeSwap: false });
    return fc.tuple(fc.constant(policy), snapshotFor(policy));
  });
  check(some, ([policy, at]) => {
    const { load, models, reason } = decide(at, policy);
    if (reason !== "challenger_wins") return;
    const best = Math.max(
      ...models.filter((each) => each.eligible).map((each) => each.score ?? Number.NEGATIVE_INFINITY),
    );
    expect(models.find((each) => each.model === load)?.score).toBeCloseTo(best, 6);
  });
});
