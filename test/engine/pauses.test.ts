// Pauses by operators: what they hold back, what they leave alone, what they say, and that a restart ends none.

import { afterEach, describe, expect, it } from "vitest";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const rigs: Rig[] = [];
const open = async (options: RigOptions): Promise<Rig> => {
  const rig = await openRig({ scheduler: { policy: "fifo" }, ...options });
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) {
    expect(rig.faults).toEqual([]);
    expect(rig.ledger.violations).toEqual([]);
  }
});

const pair = { devices: { gpu0: { memoryGiB: 80 }, gpu1: { memoryGiB: 80 } } } as const;
const gpu0 = "gpu0" as never;
const FAN = { who: "ann", note: "a new fan" };
const waitOf = (rig: Rig, model: string) => rig.engine.status().models.find(({ spec }) => spec.name === model)?.wait;

describe("a pause of one device", () => {
  const models = {
    a: { memoryGiB: 60, loadSeconds: 5, device: "gpu0" },
    b: { memoryGiB: 60, loadSeconds: 5, device: "gpu1" },
  };

  it("lets what runs there end, starts nothing more, and leaves the other device alone", async () => {
    const rig = await open({ ...pair, models: { ...models, a: { ...models.a, concurrency: 1 } } });
    const running = await rig.submit("a", { tokens: 64 * 20, leaseMs: null });
    await rig.advance(8);
    await rig.engine.operator.pause(gpu0, FAN);
    const held = await rig.submit("a", { leaseMs: null });
    const elsewhere = await rig.submit("b", { leaseMs: null });

    await rig.advance(60);
    const during = await rig.statuses([running, held, elsewhere]);
    await rig.engine.operator.resume(gpu0);
    await rig.advance(10);

    expect(during).toEqual(["succeeded", "queued", "succeeded"]);
    expect(await rig.statuses([held])).toEqual(["succeeded"]);
  });

  it("is why its models wait, with who and what they left as a note", async () => {
    const rig = await open({ ...pair, models });
    await rig.engine.operator.pause(gpu0, FAN);
    await rig.submit("a", { leaseMs: null });

    await rig.advance(5);

    expect(waitOf(rig, "a")).toMatchObject({ cause: "paused", device: "gpu0", detail: { scope: "device", ...FAN } });
    expect(rig.engine.status().devices.map(({ device, pause }) => [device, pause?.who ?? null])).toEqual([
      ["gpu0", "ann"],
      ["gpu1", null],
    ]);
    expect(rig.moves()).toEqual([]);
  });

  it("keeps a model that is loaded across it and another from loading", async () => {
    const wide = { memoryGiB: 100, loadSeconds: 5, device: ["gpu0", "gpu1"] };
    for (const device of ["gpu0", "gpu1"]) {
      const rig = await open({ ...pair, models: { wide } });
      await rig.engine.operator.pause(device as never, FAN);
      const job = await rig.submit("wide", { leaseMs: null });

      await rig.advance(60);

      expect([device, waitOf(rig, "wide")?.cause, rig.moves().length]).toEqual([device, "paused", 0]);
      await rig.engine.operator.resume(device as never);
      await rig.advance(10);
      expect(await rig.statuses([job])).toEqual(["succeeded"]);
    }
  });

  it("starts nothing on a model that already stands across it and another", async () => {
    const wide = { memoryGiB: 100, loadSeconds: 5, device: ["gpu0", "gpu1"] };
    const rig = await open({ ...pair, models: { wide } });
    await rig.submit("wide", { leaseMs: null });
    await rig.advance(10);
    await rig.engine.operator.pause("gpu1" as never, FAN);
    const job = await rig.submit("wide", { leaseMs: null });

    await rig.advance(30);

    expect(await rig.statuses([job])).toEqual(["queued"]);
  });

  it("lets a model that stands there be loaded where it may be too", async () => {
    const rig = await open({ ...pair, models: { a: { memoryGiB: 60, loadSeconds: 5 } } });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(10);
    const [home] = rig.engine.status().models.flatMap(({ devices }) => devices);
    await rig.engine.operator.pause(home, FAN);
    const jobs = [await rig.submit("a", { leaseMs: null }), await rig.submit("a", { leaseMs: null })];

    await rig.advance(20);

    expect(await rig.statuses(jobs)).toEqual(["succeeded", "succeeded"]);
    expect(rig.engine.status().models[0]?.devices).toHaveLength(2);
  });
});

describe("what is promised of a job that is held back", () => {
  it("is nothing, until the pause ends: neither an estimate nor a bound", async () => {
    const rig = await open({ scheduler: { policy: "model-score" }, models: { a: { loadSeconds: 5 }, b: {} } });
    for (let n = 0; n < 3; n++) await rig.submit("a", { leaseMs: null });
    await rig.advance(30);
    await rig.engine.operator.pause(null, FAN);
    const jobs = [await rig.submit("a", { leaseMs: null }), await rig.submit("b", { leaseMs: null })];
    await rig.advance(5);
    const places = async () => Promise.all(jobs.map(async (id) => rig.engine.queue.place(await rig.job(id))));

    const during = await places();
    await rig.engine.operator.resume();
    const after = await places();

    for (const place of during) {
      expect(place).toMatchObject({ loadBoundMs: null, estimatedMs: null, blocked: { reason: "paused" } });
    }
    expect(after[0]).toMatchObject({ loadBoundMs: 0, blocked: null });
    expect(after[1]?.loadBoundMs).toBeGreaterThan(0);
  });
});

describe("a pause of the router", () => {
  it("and one of a device end apart from each other", async () => {
    const rig = await open({ ...pair, models: { a: { memoryGiB: 60, device: "gpu0" } } });
    await rig.engine.operator.pause(gpu0, FAN);
    await rig.engine.operator.pause(null, { who: "bob", note: null });
    const job = await rig.submit("a", { leaseMs: null });
    await rig.advance(1);
    const both = waitOf(rig, "a")?.detail;

    await rig.engine.operator.resume();
    await rig.advance(30);

    expect(both).toEqual({ scope: "router", who: "bob", note: null });
    expect(waitOf(rig, "a")?.detail).toEqual({ scope: "device", ...FAN });
    expect(await rig.statuses([job])).toEqual(["queued"]);
  });
});

describe("after a restart", () => {
  it("what was paused still is, until somebody lets it go on", async () => {
    const options = { ...pair, models: { a: { memoryGiB: 60, device: "gpu0" }, b: { device: "gpu1", memoryGiB: 60 } } };
    const first = await open(options);
    await first.engine.operator.pause(gpu0, FAN);
    await first.engine.operator.drainModel("b" as never, { who: "bob", note: "its licence ran out" });
    const jobs = [await first.submit("a", { leaseMs: null }), await first.submit("b", { leaseMs: null })];
    await first.advance(1);
    await first.engine.close();
    await first.store.close();

    const rig = await open({ ...options, database: first.database, clock: first.clock, seed: 2 });
    await rig.advance(60);

    expect(await rig.statuses(jobs)).toEqual(["queued", "queued"]);
    expect(waitOf(rig, "a")?.detail).toEqual({ scope: "device", ...FAN });
    expect(waitOf(rig, "b")?.detail).toEqual({ scope: "model", who: "bob", note: "its licence ran out" });
    await rig.engine.operator.resume(gpu0);
    await rig.engine.operator.load("b" as never);
    await rig.advance(20);
    expect(await rig.statuses(jobs)).toEqual(["succeeded", "succeeded"]);
    const past = await rig.store.history.pauses({ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
    expect(past.map(({ subject, who, toMs }) => [subject, who, toMs !== null])).toEqual([
      ["gpu0", "ann", true],
      ["b", "bob", true],
    ]);
  });

  it("what is not configured any more is paused no more", async () => {
    const a = { memoryGiB: 60, device: "gpu0" };
    const first = await open({ ...pair, models: { a, b: { memoryGiB: 60 } } });
    await first.engine.operator.pause("gpu1" as never, FAN);
    await first.engine.operator.drainModel("b" as never, FAN);
    await first.engine.operator.pause(gpu0, FAN);
    await first.advance(1);
    await first.engine.close();
    await first.store.close();

    const one = { devices: { gpu0: { memoryGiB: 80 } }, models: { a } };
    const rig = await open({ ...one, database: first.database, clock: first.clock, seed: 2 });
    await rig.advance(1);

    expect(rig.engine.status().pauses.map(({ subject }) => subject)).toEqual(["gpu0"]);
    const held = await rig.store.history.pauses({ fromMs: rig.clock.nowMs(), toMs: Number.MAX_SAFE_INTEGER });
    expect(held.map(({ subject }) => subject)).toEqual(["gpu0"]);
  });

  it("a pause that was given other words is there once", async () => {
    const rig = await open({ models: { a: {} } });
    await rig.engine.operator.pause(null, { who: "ann", note: "one" });
    await rig.advance(5);
    await rig.engine.operator.pause(null, { who: "bob", note: "two" });
    await rig.advance(5);

    const past = await rig.store.history.pauses({ fromMs: rig.clock.nowMs(), toMs: Number.MAX_SAFE_INTEGER });

    expect(past).toMatchObject([{ who: "bob", note: "two", toMs: null }]);
  });
});
