// Each numbered rule of `decide` by example, in its order.

import { describe, expect, test } from "vitest";
import { decide } from "../../src/scheduler/decide.ts";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import type { Transition } from "../../src/scheduler/snapshot.ts";
import { jobId, MODEL_SCORE, model, named, resident, snapshot } from "./views.ts";

const move = (rest: Partial<Transition>): Transition => ({
  phase: "loading",
  load: named("B"),
  evict: [],
  sinceMs: 0,
  onDemand: true,
  ...rest,
});

describe("0: a move is under way", () => {
  test("a load that others wait behind goes on while its model has demand", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }] }), model("B", { jobs: [{ atMs: 0 }] })];

    const verdict = decide(snapshot(9_000, models, { transition: move({ evict: [named("A")] }) }), MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "hold", reason: "loading", guard: "in_transition", load: "B", evict: ["A"] });
    expect(verdict.serve).toBe(0);
  });

  test("a load that nobody wants any more is given up when another model waits", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }] }), model("B")];

    const verdict = decide(snapshot(9_000, models, { transition: move({}) }), MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "unload", reason: "unwanted", evict: ["B"], load: null, serve: 0 });
  });

  test.each([
    ["nobody else waits", [model("A"), model("B")], {}],
    ["the other one backs off", [model("A", { jobs: [{ atMs: 0 }], retryAtMs: 10_000 }), model("B")], {}],
    ["an operator asked for it", [model("A", { jobs: [{ atMs: 0 }] }), model("B")], { onDemand: false }],
    ["it is pinned", [model("A", { jobs: [{ atMs: 0 }] }), model("B", { wanted: "pinned" })], {}],
    ["it is too late to keep the old one", [model("A", { jobs: [{ atMs: 0 }] }), model("B")], { phase: "unloading" }],
  ] as const)("a load without demand is finished when %s", (_, models, rest) => {
    const verdict = decide(snapshot(9_000, models, { transition: move(rest) }), MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "hold", guard: "in_transition" });
  });

  test("a drain is called off as soon as nobody wants what it makes room for", () => {
    const at = snapshot(9_000, [model("A", { inFlight: 2 }), model("B")], {
      residents: [resident("A")],
      transition: move({ phase: "draining", evict: [named("A")] }),
    });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "unload", reason: "unwanted" });
  });

  test("a load without demand is looked at again when a model that backs off may be tried", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }], retryAtMs: 10_000 }), model("B")];

    expect(decide(snapshot(9_000, models, { transition: move({}) }), MODEL_SCORE).nextLookAtMs).toBe(10_000);
  });
});

describe("1: stopped", () => {
  test("a paused device neither moves nor serves", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }] }), model("B", { jobs: [{ atMs: 0 }], wanted: "operator" })];

    const verdict = decide(snapshot(999_000, models, { residents: [resident("A")], paused: true }), MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "hold", reason: "paused", guard: "paused", serve: 0, nextLookAtMs: null });
  });

  test("an empty device whose memory is not back waits until it is looked for again", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }] })];

    const verdict = decide(snapshot(1_000, models, { blockedUntilMs: 5_000 }), MODEL_SCORE);

    expect(verdict).toMatchObject({ kind: "hold", reason: "blocked", nextLookAtMs: 5_000, serve: 0 });
    expect(decide(snapshot(5_000, models, { blockedUntilMs: 5_000 }), MODEL_SCORE)).toMatchObject({ kind: "load" });
  });

  test("a model that would not stop goes on serving, and nothing is loaded on top of it", () => {
    const models = [model("A", { jobs: [{ atMs: 0 }] }), model("B", { jobs: [{ atMs: 0 }] })];
    const at = snapshot(900_000, models, { residents: [resident("A")], blockedUntilMs: 905_000 });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "hold", reason: "blocked", nextLookAtMs: 905_000 });
    expect(decide(at, MODEL_SCORE).serve).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("2: an operator's wish", () => {
  const models = [model("A", { jobs: [{ atMs: 0 }], inFlight: 3 }), model("B", { wanted: "operator" })];

  test("it goes before scores, residency and the first job of a fresh load", () => {
    const at = snapshot(1_000, models, { residents: [resident("A", { dispatched: 0 })] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "swap", reason: "operator", load: "B", evict: ["A"] });
  });

  test("it does not move a pinned model", () => {
    const [a, b] = [model("A", { jobs: [{ atMs: 0 }], pinned: true }), model("B", { wanted: "operator" })];

    expect(decide(snapshot(1_000, [a, b], { residents: [resident("A")] }), MODEL_SCORE).kind).toBe("hold");
  });
});

describe("3: the ceiling", () => {
  const late = [model("A", { jobs: [{ atMs: 100_000 }] }), model("B", { jobs: [{ id: 7, atMs: 1_000 }] })];

  test("it is reached to the millisecond, and outranks scores and residency", () => {
    const fresh = { residents: [resident("A", { sinceMs: 115_000 })] };
    const models = [model("A", { jobs: [{ atMs: 100_000 }], priority: 20 }), late[1] ?? model("B")];

    expect(decide(snapshot(120_999, models, fresh), MODEL_SCORE)).toMatchObject({
      kind: "hold",
      nextLookAtMs: 121_000,
    });
    expect(decide(snapshot(121_000, models, fresh), MODEL_SCORE)).toMatchObject({
      kind: "swap",
      reason: "ceiling",
      guard: "ceiling",
      load: "B",
      jobs: [jobId(7)],
    });
  });

  test("a model just loaded starts a job first", () => {
    const at = snapshot(200_000, late, { residents: [resident("A", { dispatched: 0, sinceMs: 199_000 })] });

    expect(decide(at, MODEL_SCORE)).toMatchObject({ kind: "hold", reason: "serve_first", guard: "serve_first" });
    const founding = bindPolicy("model-score", { serveBeforeSwap: false });
    expect(decide(at, founding)).toMatchObject({ kind: "swap", reason: "ceiling" });
  });

  test("after a forced swap the next waits for the queue or the residency, whichever ends first", () => {
    const forced = { residents: [resident("A", { sinceMs: 190_000, forced: true })] };
    const emptied = [model("A", { inFlight: 3 }), late[1] ?? model("B")];

    expect(decide(snapshot(200_000, late, forced), MODEL_SCORE)).toMatchObject({
      reason: "forced_swap_spent",
      guard: "forced_swap_spent",
      nextLookAtMs: 220_000,
    });
    expect(decide(snapshot(220_000, late, forced), MODEL_SCORE)).toMatchObject({ kind: "swap", reason: "ceiling" });
    expect(decide(snapshot(200_000, emptied, forced), MODEL_SCORE)).toMatchObject({ kind: "swap", reason: "ceiling" });
    const once = bindPolicy("model-score", { serveBeforeSwap: "once" });
    expect(decide(snapshot(200_000, late, forced), once)).toMatchObject({ kind: "swap", reason: "ceiling" });
  });

  test("of two overdue models the one unvisited longest is next, not the one with the older backlog", () => {
    const models = [
      model("A", { jobs: [{ atMs: 0 }], leftAtMs: 300_000 }),
      model("B", { jobs: [{ atMs: 9_000 }] }),
      model("C", { inFlight: 1 }),
    ];

    expect(decide(snapshot(400_000, models, { residents: [resident("C")] }), MODEL_SCORE).load).toBe("B");
  });

  test("it never forces the trial load of a broken model", () => {
    const models = [
      model("A", { jobs: [{ atMs: 399_000 }], priority: 1_000 }),
      model("B", { jobs: [{ atMs: 0 }], broken: true, priority: 0.001 }),
    ];

    expect(decide(snapshot(400_000, models, { residents: [resident("A")] }), MODEL_SCORE)).toMatchObject({
      kind: "hold",
      reason: "resident_wins",
    });
  });
});
