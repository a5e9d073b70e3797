// Stint's rules one by one, on single snapshots: what each weighs, and what it does when several models would have to go.

import { describe, expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import type { DeviceView, ModelView } from "../../src/scheduler/snapshot.ts";
import { jobId, model, type QueuedJob, resident, snapshot } from "./views.ts";

const NOW = 1_000_000;
const stint = bindPolicy("stint", {});
const { ranking } = stint;
const queue = (count: number, waitMs: number, priority = 0): QueuedJob[] =>
  Array.from({ length: count }, (_, i) => ({ atMs: NOW - waitMs + i, priority }));
const on = (name: string, facts: Parameters<typeof model>[1] = {}): ModelView => model(name, { ranking, ...facts });
const at = (models: readonly ModelView[], device: Partial<DeviceView>) =>
  decide(snapshot(NOW, models, { eventAtMs: NOW, ...device }), stint);

describe("cutting into a queue", () => {
  const busy = on("A", { jobs: queue(40, 9_000, -100), inFlight: 8 });

  test("costs the load there and the load back of the budget", () => {
    const there = on("B", { jobs: queue(3, 41_000, 100), loadMs: 4_000 });

    const { reason, spend } = at([busy, there], { residents: [resident("A")] });

    expect(reason).toBe("worth");
    expect(spend).toEqual({ beforeMs: 34_000, afterMs: 34_000 - 4_500 - 8_500 });
  });

  test("is looked at again at the instant at which the budget is enough", () => {
    const there = on("B", { jobs: queue(3, 41_000, 100) });
    const device = { residents: [resident("A")], budget: { leftMs: 5_000, atMs: NOW } };

    const { reason, nextLookAtMs } = at([busy, there], device);

    expect([reason, nextLookAtMs]).toEqual(["budget", NOW + (17_000 - 5_000) / 0.2]);
  });

  test("has to be worth it for the most urgent part of the queue alone, not only for the whole of it", () => {
    const there = on("B", { jobs: queue(3, 41_000, 100) });
    const mixed = on("A", { jobs: [...queue(1, 0, 100), ...queue(39, 9_000, -100)], inFlight: 8 });

    expect(at([mixed, there], { residents: [resident("A")] }).reason).toBe("not_worth");
  });
});

describe("an idle model", () => {
  const wanted = { lastArrivalAtMs: NOW - 1_000 };
  const likely = (arrivals: number): ModelView => {
    const view = on("A", wanted);
    const interactive = { ...view.bands.interactive, arrivals: { value: arrivals, atMs: NOW } };
    return { ...view, bands: { ...view.bands, interactive } };
  };
  const waits = on("B", { jobs: queue(40, 20_000, -100) });
  const idle = (ms: number) => ({ residents: [resident("A", { idleSinceMs: NOW - ms })] });

  test("is kept for as long as its own next jobs are worth more than what waits", () => {
    expect(at([likely(30), waits], idle(1_000)).reason).toBe("likely_needed");
    expect(at([likely(3), waits], idle(1_000)).reason).toBe("free");
  });

  test("is kept no longer than half of the loads there and back, whatever it is worth", () => {
    expect(at([likely(1_000), waits], idle(8_499)).reason).toBe("likely_needed");
    expect(at([likely(1_000), waits], idle(8_500)).reason).toBe("free");
  });

  test("is given up by the part of a packed device that is idle only when all of it has idled", () => {
    const beside = on("C", { inFlight: 1, memoryGiB: 20 });
    const big = { ...waits, memoryGiB: 60 };
    const residents = [resident("A", { idleSinceMs: NOW - 900_000 }), resident("C")];

    expect(at([{ ...likely(1_000), memoryGiB: 40 }, big, beside], { residents, memoryGiB: 80 }).reason).toBe(
      "likely_needed",
    );
  });
});

test("of several models that would have to go each adds its own price, and its load back to the budget", () => {
  const victim = (name: string): ModelView => on(name, { jobs: queue(40, 9_000, -100), inFlight: 8, memoryGiB: 40 });
  const big = on("B", { jobs: queue(6, 60_000, 100), memoryGiB: 80 });
  const residents = [resident("A"), resident("C")];

  const { reason, evict, spend } = at([victim("A"), big, victim("C")], { residents, memoryGiB: 80 });

  expect([reason, [...evict].sort()]).toEqual(["worth", ["A", "C"]]);
  expect(spend).toEqual({ beforeMs: 34_000, afterMs: 34_000 - 3 * 8_500 });
});

test("a job whose deadline is near starts before those ranked ahead of it, unless it is hopeless", () => {
  const first = (dueInMs: number) => {
    const view = on("A", { jobs: [...queue(3, 9_000, 100), { id: 7, atMs: NOW, priority: -100 }] });
    const due = { ...view, deadline: { id: jobId(7), atMs: NOW + dueInMs } };
    return at([due], { residents: [resident("A")] }).first ?? null;
  };

  expect([first(30_000), first(400_000), first(500)]).toEqual([jobId(7), null, null]);
});

test("an overdue model waits for the resident's turn, and not at all for an empty one", () => {
  const overdue = on("B", { jobs: queue(3, 9_000), unvisitedSinceMs: NOW - 5_400_000 });
  const here = (rest = {}) => ({ residents: [resident("A", { sinceMs: NOW - 10_000, ...rest })] });

  expect(at([on("A", { jobs: queue(2, 1_000), inFlight: 8 }), overdue], here())).toMatchObject({
    reason: "quantum",
    nextLookAtMs: NOW - 10_000 + 34_000,
  });
  expect(at([on("A", { inFlight: 1 }), overdue], here())).toMatchObject({ reason: "visit", load: "B" });
});
