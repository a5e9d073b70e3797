import { expect, test } from "vitest";
import type { ModelName } from "../../src/domain/ids.ts";
import { bindPolicy as policy } from "../../src/scheduler/policies/registry.ts";
import type { BoundPolicy } from "../../src/scheduler/policy.ts";
import { Projection, startAtMs } from "../../src/scheduler/projection.ts";
import type { Snapshot } from "../../src/scheduler/snapshot.ts";
import { model, named, resident, snapshot } from "./views.ts";

const pace = { slots: 4, unloadMs: 500, service: { aloneMs: 2_000, slowdownPerJob: 0 } };
function foreseen(seen: Snapshot, rule: BoundPolicy, model: ModelName) {
  const projection = new Projection([seen], rule);
  projection.advance();
  return projection.stretches(model);
}

const times = (count: number, atMs: number) => Array.from({ length: count }, (_, i) => ({ atMs: atMs + i }));

test("jobs of the loaded model start as its slots come free, four every two seconds", () => {
  const seen = snapshot(10_000, [model("a", { jobs: times(9, 9_000), inFlight: 4, ...pace })], {
    residents: [resident("a")],
  });
  const starts = foreseen(seen, policy("longest", {}), named("a"));
  expect([0, 4, 8].map((ahead) => Math.round(startAtMs(starts, ahead) ?? 0))).toEqual([10_000, 12_000, 14_000]);
  expect(startAtMs(starts, 9)).toBeNull();
});

test("a cold model's first jobs start together when it is loaded", () => {
  const seen = snapshot(10_000, [model("a", { jobs: times(6, 9_000), ...pace, loadMs: 8_000, ...pace })]);
  const starts = foreseen(seen, policy("longest", {}), named("a"));
  expect([0, 3].map((ahead) => startAtMs(starts, ahead))).toEqual([18_000, 18_000]);
  expect(startAtMs(starts, 5)).toBeGreaterThan(18_000);
});

test("a model that waits for a swap starts after the queue before it, the drain, the stop and its load", () => {
  const models = [
    model("a", { jobs: times(8, 1_000), inFlight: 4, ...pace }),
    model("b", { jobs: times(1, 2_000), ...pace, loadMs: 6_000 }),
  ];
  const seen = snapshot(10_000, models, { residents: [resident("a")] });
  const starts = foreseen(seen, policy("longest", {}), named("b"));
  // 8 jobs of a: 4 s until the last starts, 2 s until it ends, 0.5 s to stop, 6 s to load
  expect(startAtMs(starts, 0)).toBeCloseTo(10_000 + 4_000 + 2_000 + 500 + 6_000, -2);
});

test("a ceiling brings a model in before a longer queue is done", () => {
  const models = [
    model("a", { jobs: times(200, 1_000), inFlight: 4, ...pace }),
    model("b", { jobs: times(1, 2_000), ...pace, loadMs: 6_000 }),
  ];
  const seen = snapshot(10_000, models, { residents: [resident("a")] });
  const at = (name: string) => {
    const starts = foreseen(seen, policy(name, { maxWaitSeconds: 30 }), named("b"));
    return startAtMs(starts, 0) ?? Number.POSITIVE_INFINITY;
  };
  expect(at("longest")).toBeCloseTo(2_000 + 30_000 + 2_000 + 500 + 6_000, -2);
});

test("a load under way counts from when it began", () => {
  const seen = snapshot(10_000, [model("a", { jobs: times(1, 9_000), loadMs: 8_000, ...pace })], {
    transition: { phase: "loading", load: named("a"), evict: [], sinceMs: 5_000, onDemand: true },
  });
  expect(startAtMs(foreseen(seen, policy("longest", {}), named("a")), 0)).toBe(13_000);
});

test("a model that may not be loaded is not foreseen, and ends the look ahead", () => {
  const seen = snapshot(10_000, [model("a", { jobs: times(1, 9_000), paused: true })]);
  expect(foreseen(seen, policy("longest", {}), named("a"))).toEqual([]);
});

test("made in small parts it comes to the same", () => {
  const models = ["a", "b", "c"].map((name) => model(name, { jobs: times(40, 1_000), ...pace, loadMs: 6_000 }));
  const seen = snapshot(10_000, models, { residents: [resident("a")] });
  const parts = new Projection([seen], policy("stint", {}));
  let slices = 0;
  for (; !parts.done; slices++) parts.advance(10);
  expect(slices).toBeGreaterThan(5);
  for (const { model: name } of models) {
    expect(parts.stretches(name)).toEqual(foreseen(seen, policy("stint", {}), name));
  }
});
