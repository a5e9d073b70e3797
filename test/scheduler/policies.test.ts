// What each policy prefers, by example.

import { describe, expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { type RunJob, type RunModel, run } from "./one-device.ts";
import { model, resident, snapshot } from "./views.ts";

const burst = "AABACCBA".split("").map((name): RunJob => ({ model: name, atMs: 0 }));
const abc = (slots: number) => ["A", "B", "C"].map((name): RunModel => ({ name, loadMs: 3_000, runMs: 1_000, slots }));
const loadsOf = (name: string, raw: object, slots = 8): number =>
  run(bindPolicy(name, { ...raw }), abc(slots), burst, { untilMs: 200_000 }).loads;

describe("A A B A C C B A, all at once", () => {
  test.each([
    ["model-score", {}],
    ["fifo", {}],
    ["serial", {}],
    ["serial", { batch: false }],
    ["longest", {}],
    ["stint", {}],
  ])("needs three loads under %s %j", (name, raw) => {
    expect([loadsOf(name, raw, 8), loadsOf(name, raw, 1)]).toEqual([3, 3]);
  });

  test("needs one for each change of model under strict fifo", () => {
    expect(loadsOf("fifo", { strict: true })).toBe(6);
  });
});

describe("model-score", () => {
  const policy = bindPolicy("model-score", { minResidencySeconds: 0 });

  test("shows each addend, and they add up", () => {
    const models = [
      model("A", { jobs: [{ atMs: 60_000 }, { atMs: 90_000 }], priority: 2 }),
      model("B", { jobs: [{ atMs: 90_000 }], loadMs: 6_000 }),
      model("C"),
    ];

    const { models: rows } = decide(snapshot(100_000, models, { residents: [resident("A")] }), policy);

    expect(rows.map(({ terms, switchCost, score }) => [terms, switchCost, score])).toEqual([
      [{ age_term: 80, depth_term: 2 }, 0, 82],
      [{ age_term: 10, depth_term: 0.5 }, 6, 4.5],
      [{}, 0, null],
    ]);
  });

  test("a tie goes to the resident, and between others to the configuration's order", () => {
    const even = [model("B", { jobs: [{ atMs: 0 }], loadMs: 0 }), model("A", { jobs: [{ atMs: 0 }], loadMs: 0 })];

    expect(decide(snapshot(9_000, even, { residents: [resident("B")] }), policy).kind).toBe("hold");
    expect(decide(snapshot(9_000, even), policy).load).toBe("A");
  });

  test("charges the swap until the resident has idled for as long as the load takes, then a waiting job is enough", () => {
    const models = [model("A"), model("B", { jobs: [{ atMs: 99_000 }], loadMs: 8_000 })];
    const at = (nowMs: number) => snapshot(nowMs, models, { residents: [resident("A", { idleSinceMs: 98_000 })] });

    expect(decide(at(105_999), policy)).toMatchObject({ kind: "hold", reason: "resident_wins", nextLookAtMs: 106_000 });
    expect(decide(at(106_000), policy)).toMatchObject({ kind: "swap", reason: "resident_idle", guard: "idle_lapse" });
    const founding = bindPolicy("model-score", { minResidencySeconds: 0, idleLapse: false });
    expect(decide(at(106_000), founding)).toMatchObject({ kind: "hold", nextLookAtMs: 106_500 });
  });

  test("a waiting job is enough after the lapse even where waiting and depth weigh nothing", () => {
    const weightless = bindPolicy("model-score", { minResidencySeconds: 0, ageWeight: 0, depthWeight: 0 });
    const models = [model("A"), model("B", { jobs: [{ atMs: 99_000 }] })];
    const at = snapshot(200_000, models, { residents: [resident("A", { idleSinceMs: 98_000 })] });

    expect(decide(at, weightless)).toMatchObject({ kind: "swap", load: "B" });
  });

  test("a caller's priority does not count across models", () => {
    const models = [
      model("A", { jobs: [{ atMs: 0 }] }),
      model("B", { jobs: [{ atMs: 8_000, priority: 100 }], loadMs: 0 }),
    ];

    expect(decide(snapshot(9_000, models, { residents: [resident("A")] }), policy).reason).toBe("resident_wins");
  });
});

describe("fifo", () => {
  test("collating, the loaded model finishes what it has, then the first job of all decides", () => {
    const policy = bindPolicy("fifo", {});
    const models = [
      model("A", { inFlight: 1 }),
      model("B", { jobs: [{ atMs: 50 }] }),
      model("C", { jobs: [{ atMs: 10 }] }),
    ];
    const here = { residents: [resident("A")] };

    expect(decide(snapshot(1e6, models, here), policy)).toMatchObject({ kind: "hold", reason: "finish" });
    expect(decide(snapshot(1e6, [model("A"), ...models.slice(1)], here), policy)).toMatchObject({
      kind: "swap",
      reason: "arrival_order",
      load: "C",
    });
  });

  test("the caller's priority is added to the model's own; equal sums go in order of arrival", () => {
    const policy = bindPolicy("fifo", {});
    const load = (b: number, c: number, own = 1) =>
      decide(
        snapshot(1e6, [
          model("B", { jobs: [{ atMs: 50, priority: b }], priority: own }),
          model("C", { jobs: [{ atMs: 10, priority: c }] }),
        ]),
        policy,
      ).load;

    expect([load(1, 0), load(0, 0), load(0, 5, 6), load(0, 5, 7)]).toEqual(["B", "C", "C", "B"]);
  });

  test("strict, jobs start in exact order of arrival across models, one at a time", () => {
    const result = run(
      bindPolicy("fifo", { strict: true }),
      abc(8),
      burst.map((job, i) => ({ ...job, atMs: i })),
      {
        untilMs: 200_000,
      },
    );

    const order = [...result.jobs].sort((a, b) => (a.order ?? 0) - (b.order ?? 0)).map(({ atMs }) => atMs);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe("serial", () => {
  const load = (raw: object, b: { atMs: number; priority?: number }, a = { atMs: 0 }, nowMs = 10_000) => {
    const policy = bindPolicy("serial", { ...raw });
    const { ranking } = policy;
    const models = [model("A", { jobs: [a], ranking }), model("B", { jobs: [b], ranking })];
    return decide(snapshot(nowMs, models, { residents: [resident("A")] }), policy).load;
  };

  test("the loaded model has ten points ahead, and a higher priority beyond them swaps", () => {
    expect(load({}, { atMs: 0, priority: 10 })).toBeNull();
    expect(load({}, { atMs: 0, priority: 11 })).toBe("B");
    expect(load({ swapAffinityBonus: 99 }, { atMs: 0, priority: 100 })).toBe("B");
  });

  test("waiting a minute is worth a point, and crosses bands in the end", () => {
    expect(load({}, { atMs: 0 }, { atMs: 599_999 }, 700_000)).toBeNull();
    expect(load({}, { atMs: 0 }, { atMs: 600_001 }, 700_000)).toBe("B");
    expect(load({ swapAffinityBonus: 0 }, { atMs: 0, priority: -100 }, { atMs: 6_000_001 }, 7e6)).toBe("B");
    expect(
      load({ swapAffinityBonus: 0, agingDivisorSeconds: 0 }, { atMs: 0, priority: -1 }, { atMs: 6e9 }, 7e9),
    ).toBeNull();
  });

  test("literally one job at a time: nothing starts while one runs, and no swap interrupts it", () => {
    const policy = bindPolicy("serial", { batch: false });
    const models = [
      model("A", { jobs: [{ atMs: 0 }], inFlight: 1 }),
      model("B", { jobs: [{ atMs: 0, priority: 100 }] }),
    ];
    const busy = decide(snapshot(9, models, { residents: [resident("A")] }), policy);
    const free = decide(snapshot(9, [model("A", { jobs: [{ atMs: 0 }] })], { residents: [resident("A")] }), policy);

    expect([busy.kind, busy.serve, free.serve]).toEqual(["hold", 0, 1]);
  });

  test("with affinity 0 and equal priorities, one at a time, the order is that of arrival", () => {
    const policy = bindPolicy("serial", { batch: false, swapAffinityBonus: 0, agingDivisorSeconds: 0 });
    const result = run(
      policy,
      abc(8),
      burst.map((job, i) => ({ ...job, atMs: i })),
      { untilMs: 200_000 },
    );

    const order = [...result.jobs].sort((a, b) => (a.order ?? 0) - (b.order ?? 0)).map(({ atMs }) => atMs);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe("longest", () => {
  const policy = bindPolicy("longest", {});

  test("leaves a model only when it has nothing queued and nothing in flight, for the deepest queue", () => {
    const others = [model("B", { jobs: [{ atMs: 0 }] }), model("C", { jobs: [{ atMs: 5 }, { atMs: 6 }] })];
    const here = { residents: [resident("A")] };

    expect(decide(snapshot(1e6, [model("A", { inFlight: 1 }), ...others], here), policy).reason).toBe("finish");
    expect(decide(snapshot(1e6, [model("A"), ...others], here), policy)).toMatchObject({
      kind: "swap",
      reason: "longest_queue",
      load: "C",
    });
  });

  test("of equally deep queues the oldest is next", () => {
    const models = [model("B", { jobs: [{ atMs: 9 }] }), model("C", { jobs: [{ atMs: 5 }] })];

    expect(decide(snapshot(1e6, models), policy).load).toBe("C");
  });
});
