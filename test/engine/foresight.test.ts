// Loads ahead of need, on the live engine in virtual time: for hints, and for a rhythm that has been learned.

import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { LOCAL_CALLER, type ModelName } from "../../src/domain/ids.ts";
import type { NewHint } from "../../src/engine/control.ts";
import { createSeeded } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const MINUTE = 60;
const DAY = 86_400;
const MODELS = { chat: { loadSeconds: 20 }, coder: { loadSeconds: 60 } };

const open = (options: Partial<RigOptions> = {}): Promise<Rig> =>
  openRig({ models: MODELS, scheduler: { policy: "fifo" }, unattended: true, ...options });

/** `coder` will be needed in so many seconds. */
function hintIn(rig: Rig, seconds: number, rest: Partial<NewHint> = {}) {
  const atMs = rig.clock.wallMs() + seconds * 1_000;
  const hint = { caller: LOCAL_CALLER, model: "coder" as ModelName, atMs, untilMs: null };
  return rig.engine.hints.add({ ...hint, repeat: null, jobs: 5, priority: 0, ...rest });
}

const loadsOf = (rig: Rig, model: string) => rig.of("load.started").filter((each) => each.model === model);
const outcomes = (rig: Rig) => rig.of("preload").map(({ model, source, outcome }) => `${model} ${source} ${outcome}`);

/** How long the job waited for its start. */
async function waitOf(rig: Rig, id: Awaited<ReturnType<Rig["submit"]>>): Promise<number> {
  return ((await rig.job(id)).dispatch?.queueWaitMs ?? Number.NaN) / 1_000;
}

it("a hint has the model loaded before its job comes, and says so with its arithmetic", async () => {
  const rig = await open();
  rig.schedule("chat", [0]);
  await rig.advance(30);
  await hintIn(rig, 30 * MINUTE);
  await rig.advance(30 * MINUTE);

  const id = await rig.submit("coder");
  await rig.advance(MINUTE);

  expect(await waitOf(rig, id)).toBe(0);
  const [load] = loadsOf(rig, "coder");
  expect(load?.atS).toBeCloseTo(30 + 30 * MINUTE - (1.15 * 60 + 30) + 0.5, 3);
  const decision = rig.moves().at(-1);
  expect(decision).toMatchObject({ kind: "swap", reason: "preload", load: "coder", evict: ["chat"] });
  expect(decision?.preload).toMatchObject({
    source: "hint",
    probability: 0.9,
    burst: 5,
    gain: 270,
    price: 15,
    risk: 0,
  });
  expect(decision?.sentence.replaceAll("\u00a0", " ")).toBe(
    "Swapped chat for coder: expected in 1 m 39 s (hint), gain 270 > 1.2 × 15.",
  );
  expect(outcomes(rig)).toEqual(["coder hint hit"]);
  expect(rig.engine.hints.list(LOCAL_CALLER)).toMatchObject([{ state: "met" }]);
});

it("a hint that comes to nothing costs one load and no more, and counts as a miss", async () => {
  const rig = await open();
  rig.schedule("chat", [0]);
  await rig.advance(30);
  await hintIn(rig, 10 * MINUTE, { untilMs: rig.clock.wallMs() + 60 * MINUTE * 1_000 });
  // Other work takes the device back within the hint's time, and leaves it idle again.
  rig.schedule("chat", [20 * MINUTE, 40 * MINUTE]);

  await rig.advance(2 * 60 * MINUTE);

  expect(loadsOf(rig, "coder")).toHaveLength(1);
  expect(outcomes(rig)).toEqual(["coder hint miss"]);
  expect(rig.engine.hints.list(LOCAL_CALLER)).toMatchObject([{ state: "missed" }]);
});

it("work that waits is never displaced, and what comes during such a load goes first", async () => {
  const rig = await open();
  rig.schedule("chat", [0], { tokens: 64 * 300 });
  await rig.advance(30);
  await hintIn(rig, 60);
  await rig.advance(60);
  expect(loadsOf(rig, "coder")).toHaveLength(0);
  await rig.advance(235);
  expect(loadsOf(rig, "coder")).toHaveLength(0);
});

it("a load ahead of need is given up when other work comes, and made once that is done", async () => {
  const rig = await open();
  await hintIn(rig, 5 * MINUTE, { untilMs: rig.clock.wallMs() + 20 * MINUTE * 1_000 });
  await rig.advance(5 * MINUTE - 90);
  expect(loadsOf(rig, "coder")).toHaveLength(1);

  const id = await rig.submit("chat");
  await rig.advance(MINUTE);

  expect(await waitOf(rig, id)).toBeCloseTo(20, 0);
  expect(rig.moves().map(({ kind, reason }) => `${kind} ${reason}`)).toEqual([
    "preload preload",
    "unload yielded",
    "load cold",
    "swap preload",
  ]);
  expect(outcomes(rig)).toEqual(["coder hint miss"]);
});

it("a daily hint is met or missed each day anew", async () => {
  const rig = await open();
  await hintIn(rig, 60 * MINUTE, { repeat: "daily" });
  rig.schedule("coder", [60 * MINUTE + 5, 2 * 24 * 60 * MINUTE + 60 * MINUTE + 20]);
  rig.schedule("chat", [0, 3 * 60 * MINUTE, 27 * 60 * MINUTE]);

  await rig.advance(3 * 24 * 60 * MINUTE);

  expect(outcomes(rig)).toEqual(["coder hint hit", "coder hint miss", "coder hint hit"]);
  const [view] = rig.engine.hints.list(LOCAL_CALLER);
  expect(view).toMatchObject({ state: "waiting", hint: { repeat: "daily", last: "met" } });
});

it("a half-hourly caller is expected once eight predictions have come true, and then finds its model loaded", async () => {
  const rig = await open();
  const halfHours = Array.from({ length: 20 }, (_, i) => i * 30 * MINUTE);
  rig.schedule("coder", halfHours, { priority: 50 });
  rig.schedule(
    "chat",
    halfHours.map((at) => at + 10 * MINUTE),
  );

  await rig.advance(20 * 30 * MINUTE);

  const predictions = rig.of("prediction").filter(({ model }) => model === "coder");
  expect(predictions.filter(({ source }) => source === "cron")).toHaveLength(16);
  expect(new Set(predictions.map(({ outcome }) => outcome))).toEqual(new Set(["hit"]));
  // Four starts make the first prediction, eight are scored, and the thirteenth is acted on.
  const first = rig.of("decision").find(({ decision }) => decision.preload?.model === "coder");
  expect(first?.atS).toBeCloseTo(12 * 30 * MINUTE - 99, 0);
  expect(outcomes(rig).filter((each) => each.startsWith("coder"))).toEqual(Array(8).fill("coder cron hit"));
});

it("with `hints` the same rhythm is watched and nothing is loaded for it; with false not even hints count", async () => {
  for (const preloading of ["hints", false] as const) {
    const rig = await open({ scheduler: { policy: "fifo", preloading } });
    const halfHours = Array.from({ length: 16 }, (_, i) => i * 30 * MINUTE);
    rig.schedule("coder", halfHours, { priority: 50 });
    rig.schedule(
      "chat",
      halfHours.map((at) => at + 10 * MINUTE),
    );
    await rig.advance(16 * 30 * MINUTE);
    expect(outcomes(rig)).toEqual([]);
    expect(rig.of("prediction").length > 0).toBe(preloading === "hints");

    await hintIn(rig, 5 * MINUTE);
    await rig.advance(6 * MINUTE);

    expect(rig.moves().some(({ reason }) => reason === "preload")).toBe(preloading === "hints");
  }
});

it("what comes at random is never expected", async () => {
  const rig = await open({
    models: { chat: { loadSeconds: 20 }, coder: { loadSeconds: 60 }, eye: { loadSeconds: 40 } },
  });
  const seeded = createSeeded(7);
  for (const model of ["chat", "coder", "eye"]) {
    const at: number[] = [];
    for (let s = seeded.exponential(1_500); s < 4 * DAY; s += seeded.exponential(1_500)) at.push(s);
    rig.schedule(model, at, { priority: 50 });
  }

  await rig.advance(4 * DAY);

  expect(rig.of("prediction").length).toBeGreaterThan(5);
  expect(rig.moves().filter(({ reason }) => reason === "preload")).toEqual([]);
});

it("hints in vain spend the budget and no more, and are stopped for twelve hours after eight", async () => {
  const rig = await open();
  rig.schedule("chat", [0]);
  // A wrong hint each quarter of an hour; chat takes the device back in between.
  for (let i = 1; i <= 90; i++) await hintIn(rig, i * 15 * MINUTE);
  rig.schedule(
    "chat",
    Array.from({ length: 200 }, (_, i) => (i * 15 + 8) * MINUTE),
  );

  await rig.advance(16 * 60 * MINUTE);

  const loads = rig.of("decision").filter(({ decision }) => decision.reason === "preload");
  expect(outcomes(rig).slice(0, 8)).toEqual(Array(8).fill("coder hint miss"));
  const stoppedAt = rig.of("preload")[7]?.atS ?? 0;
  const next = loads.find(({ atS }) => atS > stoppedAt);
  expect(next?.atS).toBeGreaterThanOrEqual(stoppedAt + 12 * 60 * MINUTE);
  for (const { decision } of loads) expect(decision.preload?.leftMs).toBeGreaterThanOrEqual(0);
});

it("no more than the budget is spent, however often a rhythm asks for it", async () => {
  const scheduler = { policy: "fifo", preloadBudgetSeconds: 130, preloadShare: 0.01 };
  const rig = await open({ scheduler });
  const quarters = Array.from({ length: 60 }, (_, i) => i * 15 * MINUTE);
  rig.schedule("coder", quarters, { priority: 50 });
  rig.schedule(
    "chat",
    quarters.map((at) => at + 6 * MINUTE),
  );

  await rig.advance(60 * 15 * MINUTE);

  const spent = rig.of("decision").reduce((sum, { decision }) => sum + (decision.preload?.loadMs ?? 0) / 1_000, 0);
  expect(spent).toBeGreaterThan(60);
  expect(spent).toBeLessThanOrEqual(65 + 0.01 * 60 * 15 * MINUTE);
});

it("where there is room beside what is loaded nothing is evicted, and nothing is at risk", async () => {
  const models = { chat: { loadSeconds: 20, memoryGiB: 20 }, coder: { loadSeconds: 60, memoryGiB: 40 } };
  const rig = await open({ models, devices: { gpu0: { memoryGiB: 80 } } });
  rig.schedule("chat", [0], { tokens: 64 * 900 });
  await rig.advance(30);
  await hintIn(rig, 5 * MINUTE);

  await rig.advance(5 * MINUTE);

  expect(rig.moves().at(-1)).toMatchObject({ kind: "preload", load: "coder", evict: [], preload: { risk: 0 } });
  expect(rig.engine.status().devices[0]?.models).toEqual(["chat", "coder"]);
});

it("hints and what was learned survive a restart", async () => {
  const database = new Database(":memory:");
  const clock = new VirtualClock();
  const first = await open({ database, clock });
  const halfHours = Array.from({ length: 12 }, (_, i) => i * 30 * MINUTE);
  first.schedule("coder", halfHours, { priority: 50 });
  await first.advance(12 * 30 * MINUTE - 10 * MINUTE);
  await hintIn(first, 3 * 60 * MINUTE, { model: "chat" as ModelName });
  const known = first.engine.status().models.map(({ forecast }) => forecast);
  const closing = first.engine.close();
  await clock.runUntil(clock.nowMs() + 20_000);
  await closing;
  await first.store.close();

  const second = await open({ database, clock, seed: 2 });

  const now = second.engine.status().models.map(({ forecast }) => forecast);
  expect(now).toEqual(known);
  expect(now[1]?.cron).toEqual({ hits: 8, predictions: 8 });
  expect(second.engine.hints.list(LOCAL_CALLER)).toMatchObject([{ state: "waiting", hint: { model: "chat" } }]);
});
