// What the founding rule could not do: serve at least once a load, whatever is overdue, and visit every model in bounded
// time.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bindPolicy, POLICY_NAMES } from "../../src/scheduler/policies/registry.ts";
import { FOUNDING } from "../../src/scheduler/presets.ts";
import { type RunJob, type RunModel, run, waitsOf } from "./one-device.ts";

const every = (model: string, gapMs: number, count: number, fromMs = 0): RunJob[] =>
  Array.from({ length: count }, (_, i) => ({ model, atMs: fromMs + i * gapMs }));
const three = ["A", "B", "C"].map(
  (name): RunModel => ({ name, loadMs: 310_000, unloadMs: 5_000, runMs: 8_000, slots: 64 }),
);
const rare = (apartMs: number): RunJob[] => three.flatMap(({ name }, i) => every(name, 600_000, 12, i * apartMs));
const deployed = { minResidencySeconds: 300, maxWaitSeconds: 900 };

describe("three models of 310 s each, asked for once in ten minutes", () => {
  test.each([0, 1_000, 10_000, 60_000, 150_000, 200_000, 250_000])(
    "%d ms apart: 36 of 36 by t = 9,000 s in at most 16 loads",
    (apartMs) => {
      const result = run(bindPolicy("model-score", deployed), three, rare(apartMs), { untilMs: 9_000_000 });

      expect(result.jobs.filter(({ doneAtMs }) => doneAtMs !== undefined && doneAtMs <= 9_000_000)).toHaveLength(36);
      expect(result.loads).toBeLessThanOrEqual(16);
    },
  );

  test("the founding rule, which may swap before it serves, serves 2 of 36 in two hours", () => {
    const founding = bindPolicy("model-score", { ...FOUNDING, ...deployed });

    const result = run(founding, three, rare(0), { untilMs: 7_200_000, tickMs: 250 });

    expect(result.jobs.filter(({ startedAtMs }) => startedAtMs !== undefined)).toHaveLength(2);
  });
});

test("an idle device loads for the first request as soon as the resident has idled for what the load costs", () => {
  const models = three.slice(0, 2);
  const arrivals = [...every("A", 1, 1), ...every("B", 1, 1, 3_600_000)];

  const result = run(bindPolicy("model-score", deployed), models, arrivals, { untilMs: 7_200_000 });

  expect(waitsOf(result, "B")).toEqual([315_000]);
});

test("two models whose loads are longer than the ceiling take turns, and each load serves", () => {
  const policy = bindPolicy("model-score", { minResidencySeconds: 30, maxWaitSeconds: 120 });
  const models = three.slice(0, 2);
  const arrivals = models.flatMap(({ name }, i) => every(name, 30_000, 200, i * 10_000));

  const result = run(policy, models, arrivals, { untilMs: 7_200_000 });

  expect(result.loads).toBeGreaterThan(5);
  for (const { served } of result.moves.slice(0, -1)) expect(served).toBeGreaterThan(0);
});

test("one very long generation does not stop the others for longer than it runs", () => {
  const models: RunModel[] = [
    { name: "A", loadMs: 8_000, runMs: 1_800 },
    { name: "B", loadMs: 6_000, runMs: 1_300 },
  ];
  const arrivals = [
    ...every("A", 7_000, 200),
    ...every("B", 7_000, 200, 3_000),
    { model: "A", atMs: 100, runMs: 500_000 },
  ];

  const result = run(bindPolicy("model-score", {}), models, arrivals, { untilMs: 3_000_000 });

  expect(result.jobs.every(({ startedAtMs }) => startedAtMs !== undefined)).toBe(true);
});

const someModels = fc.array(
  fc.record({
    loadMs: fc.constantFrom(1_000, 20_000, 200_000),
    runMs: fc.constantFrom(500, 5_000, 40_000),
    slots: fc.constantFrom(1, 2, 8),
    priority: fc.constantFrom(0.5, 1, 20),
  }),
  { minLength: 2, maxLength: 4 },
);
const someArrivals = fc.array(fc.record({ model: fc.nat({ max: 3 }), atMs: fc.nat({ max: 600_000 }) }), {
  minLength: 1,
  maxLength: 40,
});

test("every load that finds queued work serves before the next swap, under every policy and any traffic", () => {
  const settings = fc.record({
    name: fc.constantFrom(...POLICY_NAMES),
    maxWaitSeconds: fc.constantFrom(null, 1, 60),
    minResidencySeconds: fc.constantFrom(null, 0, 30),
    serveBeforeSwap: fc.constantFrom("residency", "once"),
    strict: fc.boolean(),
    batch: fc.boolean(),
  });
  fc.assert(
    fc.property(settings, someModels, someArrivals, ({ name, ...raw }, shapes, drafts) => {
      const models = shapes.map((each, i): RunModel => ({ ...each, name: "ABCD".charAt(i) }));
      const jobs = drafts.map(({ model, atMs }): RunJob => ({ model: "ABCD".charAt(model % models.length), atMs }));

      const result = run(bindPolicy(name, raw), models, jobs, { untilMs: 100_000_000 });

      for (const { served } of result.moves) expect(served).toBeGreaterThan(0);
      expect(result.jobs.every(({ doneAtMs }) => doneAtMs !== undefined)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("under overload no model goes unvisited for longer than the ceiling and one turn of each other model", () => {
  const names = ["A", "B", "C", "D"];
  const models = names.map((name): RunModel => ({ name, loadMs: 10_000, runMs: 4_000, slots: 1 }));
  const arrivals = names.flatMap((name, i) => every(name, 2_000 + i * 500, 400, i * 100));
  const policy = bindPolicy("model-score", { minResidencySeconds: 30, maxWaitSeconds: 120 });

  const result = run(policy, models, arrivals, { untilMs: 1_500_000 });

  const turnMs = 30_000 + 4_000 + 500 + 10_000;
  for (const name of names) {
    const visits = result.moves.filter(({ to }) => to === name).map(({ readyAtMs }) => readyAtMs);
    const gaps = visits.map((atMs, i) => atMs - (visits[i - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(120_000 + 4 * turnMs);
  }
});

test("two old backlogs do not hand the device to each other past a third model", () => {
  const models = ["A", "B", "C"].map((name): RunModel => ({ name, loadMs: 10_000, runMs: 4_000, slots: 1 }));
  const arrivals = [...every("A", 0, 200), ...every("B", 0, 200), { model: "C", atMs: 1_000 }];

  const result = run(bindPolicy("model-score", {}), models, arrivals, { untilMs: 3_000_000 });

  expect(waitsOf(result, "C")[0]).toBeLessThanOrEqual(120_000 + 2 * (30_000 + 4_000 + 500 + 10_000) + 10_500);
});
