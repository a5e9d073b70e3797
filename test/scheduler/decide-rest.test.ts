// Rules 4 to 9 of `decide` by example.

import { describe, expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { jobId, MODEL_SCORE, model, resident, snapshot } from "./views.ts";

describe("4: nothing waits", () => {
  test("the loaded model stays, and the device rests", () => {
    const at = snapshot(1e9, [model("A"), model("B")], { residents: [resident("A", { idleSinceMs: 0 })] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "idle", reason: "no_work", nextLookAtMs: null });
  });

  test("work that runs is serving, not rest", () => {
    const at = snapshot(1e9, [model("A", { inFlight: 1 })], { residents: [resident("A")] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "hold", reason: "serving" });
  });

  test("a model is unloaded once it has idled for its time, unless it is pinned or to be kept ready", () => {
    const idle = { residents: [resident("A", { idleSinceMs: 5_000 })] };
    const a = { unloadAfterMs: 60_000 };

    expect(decide(snapshot(64_999, [model("A", a)], idle), MODEL_SCORE)).toMatchObject({
      kind: "idle",
      nextLookAtMs: 65_000,
    });
    expect(decide(snapshot(65_000, [model("A", a)], idle), MODEL_SCORE)).toMatchObject({
      kind: "unload",
      reason: "idle_timeout",
      evict: ["A"],
      load: null,
    });
    for (const kept of [{ pinned: true }, { wanted: "keep_ready" }] as const) {
      expect(decide(snapshot(1e9, [model("A", { ...a, ...kept })], idle), MODEL_SCORE).kind).toBe("idle");
    }
  });

  test("an empty device takes back the last good model, then a pinned one, then one to preload", () => {
    const restore = model("A", { wanted: "restore" });
    const pinned = model("B", { wanted: "pinned" });
    const preload = model("C", { wanted: "keep_ready" });

    expect(decide(snapshot(0, [preload, pinned, restore]), MODEL_SCORE)).toMatchObject({
      kind: "preload",
      reason: "restore",
      load: "A",
    });
    expect(decide(snapshot(0, [preload, pinned]), MODEL_SCORE)).toMatchObject({ reason: "pinned", load: "B" });
    expect(decide(snapshot(0, [preload]), MODEL_SCORE)).toMatchObject({ reason: "keep_ready", load: "C" });
  });

  test("a wanted model that failed to load is tried again when its time comes", () => {
    const models = [model("A", { wanted: "keep_ready", retryAtMs: 7_000 })];

    expect(decide(snapshot(1_000, models), MODEL_SCORE)).toMatchObject({ kind: "idle", nextLookAtMs: 7_000 });
    expect(decide(snapshot(7_000, models), MODEL_SCORE)).toMatchObject({ kind: "preload", load: "A" });
  });

  test("a pinned model takes the place of an idle one, a preloaded one does not", () => {
    const idle = { residents: [resident("A", { idleSinceMs: 0 })] };

    expect(decide(snapshot(1, [model("A"), model("B", { wanted: "pinned" })], idle), MODEL_SCORE)).toMatchObject({
      kind: "swap",
      reason: "pinned",
      load: "B",
    });
    expect(decide(snapshot(1, [model("A"), model("B", { wanted: "keep_ready" })], idle), MODEL_SCORE).kind).toBe(
      "idle",
    );
  });

  test("a model that is no longer configured is unloaded", () => {
    const at = snapshot(1, [model("A")], { residents: [resident("Z", { idleSinceMs: 0 })] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "unload", reason: "removed", evict: ["Z"] });
  });
});

describe("5: only models wait that may not be loaded", () => {
  const shut = model("B", { jobs: [{ atMs: 0 }], retryAtMs: 500_000 });

  test("the resident goes on with its own work", () => {
    const at = snapshot(400_000, [model("A", { jobs: [{ atMs: 0 }] }), shut], { residents: [resident("A")] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({
      kind: "hold",
      reason: "back_off",
      guard: "back_off",
      nextLookAtMs: 500_000,
    });
    expect(decide(at, MODEL_SCORE).serve).toBe(Number.POSITIVE_INFINITY);
  });

  test("an empty device puts the last good model back meanwhile", () => {
    const verdict = decide(snapshot(400_000, [model("A", { wanted: "restore" }), shut]), MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "preload", reason: "restore", load: "A" });
  });

  test.each([
    ["paused", { paused: true }, "paused", null],
    ["no_room", { memoryGiB: 200 }, "no_room", null],
    ["back_off", { retryAtMs: 500_000, broken: true }, "back_off", 500_000],
  ] as const)("an idle device says %s", (_, rest, reason, nextLookAtMs) => {
    const models = [model("A"), model("B", { jobs: [{ atMs: 0 }], ...rest })];
    const at = snapshot(400_000, models, { memoryGiB: 100, residents: [resident("A", { idleSinceMs: 0 })] });

    const verdict = decide(at, MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "idle", reason, nextLookAtMs });
    expect(verdict.models[1]?.whyNot).toMatch(/\w+ \w+/);
  });
});

describe("6 and 7: nothing that can serve is loaded", () => {
  test("an empty device loads the policy's choice", () => {
    const models = [model("A", { jobs: [{ atMs: 900 }] }), model("B", { jobs: [{ atMs: 0 }, { atMs: 5 }] })];

    expect(decide(snapshot(1_000, models), MODEL_SCORE)).toMatchObject({
      kind: "load",
      reason: "cold",
      load: "B",
      evict: [],
      jobs: [jobId(0)],
    });
  });

  test("a paused resident hands over at once, however fresh", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }], paused: true }), model("B", { jobs: [{ atMs: 999 }] })];
    const at = snapshot(1_000, models, { residents: [resident("A", { sinceMs: 900, dispatched: 0 })] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "swap", reason: "resident_unavailable", load: "B" });
  });
});

describe("8 and 9: the policy's preference, and what stands in its way", () => {
  const models = [model("A", { jobs: [{ atMs: 39_900 }] }), model("B", { jobs: [{ atMs: 0 }] })];

  test("a resident alone with work is serving", () => {
    const at = snapshot(1_000, [model("A", { jobs: [{ atMs: 0 }] }), model("B")], { residents: [resident("A")] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "hold", reason: "serving", jobs: [], nextLookAtMs: null });
  });

  test("a challenger that wins waits for the end of the minimum residency", () => {
    const at = snapshot(40_000, models, { residents: [resident("A", { sinceMs: 20_000 })] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "hold", reason: "min_residency", nextLookAtMs: 50_000 });
    expect(decide({ ...at, nowMs: 50_000 }, MODEL_SCORE)).toMatchObject({ kind: "swap", reason: "challenger_wins" });
  });

  test("a pinned model is not swapped out, whatever waits", () => {
    const pinned = [model("A", { pinned: true }), model("B", { jobs: [{ atMs: 0 }] })];
    const at = (nowMs: number) => snapshot(nowMs, pinned, { residents: [resident("A", { idleSinceMs: 0 })] });

    for (const nowMs of [40_000, 1e9]) {
      expect(decide(at(nowMs), MODEL_SCORE)).toMatchObject({ kind: "hold", reason: "pinned", guard: "pinned" });
    }
  });

  test("a model just loaded starts a job before a better score takes its place, under every policy", () => {
    const at = snapshot(40_000, models, { residents: [resident("A", { sinceMs: 0, dispatched: 0 })] });

    for (const policy of [
      MODEL_SCORE,
      bindPolicy("fifo", { strict: true }),
      bindPolicy("serial", { swapAffinityBonus: 0 }),
    ]) {
      expect(decide(at, policy)).toMatchObject({ kind: "hold", reason: "serve_first" });
    }
  });
});
