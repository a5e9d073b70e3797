// Loads ahead of need, on the live engine in virtual time: for hints, and for a rhythm that has been learned.

import { expect, it } from "vitest";
import { LOCAL_CALLER, type ModelName } from "../../src/domain/ids.ts";
import type { NewHint } from "../../src/engine/control.ts";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const MINUTE = 60;
const MODELS = { chat: { loadSeconds: 20 }, coder: { loadSeconds: 60 } };

const open = (options: Partial<RigOptions> = {}): Promise<Rig> =>
  openRig({ models: MODELS, scheduler: { policy: "fifo" }, ...options });

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
