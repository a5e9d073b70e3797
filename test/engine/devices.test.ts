// Several devices: a model across some of them, a second copy, sets that never share one, and claims that were too low.

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
const LONG = { tokens: 64 * 100, leaseMs: null };
const loadedOn = (rig: Rig): Record<string, readonly string[]> =>
  Object.fromEntries(rig.engine.status().devices.map(({ device, models }) => [device, models]));

describe("a model across two devices", () => {
  const models = {
    wide: { memoryGiB: 100, loadSeconds: 10, device: ["gpu0", "gpu1"] },
    a: { memoryGiB: 20, loadSeconds: 10, device: "gpu0" },
    b: { memoryGiB: 60, loadSeconds: 10, device: "gpu1" },
  };

  it("takes its share of both in one load, and stands on both", async () => {
    const rig = await open({ ...pair, models });
    await rig.submit("a", LONG);
    await rig.advance(12);
    const wide = await rig.submit("wide", { leaseMs: null });
    await rig.advance(5);
    const during = rig.engine.status().devices.map(({ phase, claimedGiB }) => [phase, claimedGiB]);

    await rig.advance(10);

    expect(during).toEqual([
      ["loading", 70],
      ["loading", 50],
    ]);
    expect(loadedOn(rig)).toEqual({ gpu0: ["a", "wide"], gpu1: ["wide"] });
    expect(await rig.statuses([wide])).toEqual(["succeeded"]);
    expect(rig.of("load.started").filter(({ model }) => model === "wide")).toHaveLength(1);
    expect(rig.engine.status().models.find(({ spec }) => spec.name === "wide")?.devices).toEqual(["gpu0", "gpu1"]);
  });

  it("goes as one for a model of the second device, and comes back as one in place of it", async () => {
    const rig = await open({ ...pair, models });
    const first = await rig.submit("wide", { leaseMs: null });
    await rig.advance(12);
    const b = await rig.submit("b", { leaseMs: null });
    await rig.advance(15);
    const between = loadedOn(rig);
    const second = await rig.submit("wide", { leaseMs: null });

    await rig.advance(15);

    expect(between).toEqual({ gpu0: [], gpu1: ["b"] });
    expect(loadedOn(rig)).toEqual({ gpu0: ["wide"], gpu1: ["wide"] });
    expect(await rig.statuses([first, b, second])).toEqual(Array(3).fill("succeeded"));
  });

  it("is loaded to the end while another model waits for one of its devices", async () => {
    const rig = await open({ ...pair, models: { ...models, full: { memoryGiB: 80, device: "gpu0" } } });
    const wide = await rig.submit("wide", { leaseMs: null });
    await rig.advance(5);
    const full = await rig.submit("full", { leaseMs: null });

    await rig.advance(100);

    expect(rig.of("load.finished").map(({ model, outcome }) => [model, outcome])).toEqual([
      ["wide", "ready"],
      ["full", "ready"],
    ]);
    expect(await rig.statuses([wide, full])).toEqual(["succeeded", "succeeded"]);
  });

  it("is lost as one: its memory is free on both", async () => {
    const rig = await open({
      ...pair,
      models,
      faults: { load: ({ model }) => (model === "wide" ? { kind: "die_later", afterMs: 20_000 } : null) },
    });
    const wide = await rig.submit("wide", LONG);

    await rig.advance(31);
    const b = await rig.submit("b", { leaseMs: null });
    await rig.advance(400);

    expect(rig.of("instance.lost").length).toBeGreaterThan(0);
    expect(await rig.statuses([b])).toEqual(["succeeded"]);
    expect((await rig.job(wide)).interruptions).toBeGreaterThan(0);
  });
});

describe("a second copy of a model", () => {
  const models = { a: { memoryGiB: 40, loadSeconds: 5, concurrency: 2 } };
  const many = (rig: Rig): Promise<unknown> =>
    Promise.all(Array.from({ length: 60 }, () => rig.submit("a", { tokens: 64 * 10, leaseMs: null })));

  it("is loaded when the queue is long, takes its share of the work, and goes when idle like any other", async () => {
    const rig = await open({ ...pair, models: { a: { ...models.a, unloadAfterSeconds: 30 } } });
    await many(rig);
    await rig.advance(60);
    const busy = rig.engine.status().models[0];
    await rig.advance(400);

    expect(busy).toMatchObject({ devices: ["gpu0", "gpu1"], running: 4 });
    expect(rig.of("job.finished").map(({ status }) => status)).toEqual(Array(60).fill("succeeded"));
    expect(loadedOn(rig)).toEqual({ gpu0: [], gpu1: [] });
  });

  it("gets as many jobs as the first, not what that one leaves over", async () => {
    const rig = await open({ ...pair, models: { a: { ...models.a, concurrency: 8 } } });
    await Promise.all(Array.from({ length: 200 }, () => rig.submit("a", { tokens: 64 * 4, leaseMs: null })));
    await rig.advance(160);
    const before = rig.engine.status().models[0]?.devices;
    await Promise.all(Array.from({ length: 6 }, () => rig.submit("a", { tokens: 64 * 60, leaseMs: null })));

    await rig.advance(5);
    const [here, there] = ["gpu0", "gpu1"].map(
      (gpu) =>
        rig
          .of("load.started")
          .filter(({ device }) => device === gpu)
          .at(-1)?.instance,
    );
    const jobs = await Promise.all(
      rig
        .of("job.dispatched")
        .slice(-6)
        .map(({ job }) => rig.job(job)),
    );
    const on = (instance: string | undefined): number =>
      jobs.filter(({ state }) => "instance" in state && state.instance === instance).length;

    expect(before).toEqual(["gpu0", "gpu1"]);
    expect([on(here), on(there)]).toEqual([3, 3]);
  });

  it("is not loaded for a short queue, nor where copies are switched off", async () => {
    const short = await open({ ...pair, models });
    const off = await open({ ...pair, models, scheduler: { policy: "fifo", replicas: false } });
    await short.submit("a", { leaseMs: null });
    await short.submit("a", { leaseMs: null });
    await many(off);

    await short.advance(60);
    await off.advance(60);

    expect(short.of("load.started")).toHaveLength(1);
    expect(off.of("load.started")).toHaveLength(1);
  });
});

describe("models that are never together", () => {
  it("take turns on a device that has room for both", async () => {
    const rig = await open({
      devices: { gpu0: { memoryGiB: 80 } },
      models: { a: { memoryGiB: 10 }, b: { memoryGiB: 10 }, c: { memoryGiB: 10 } },
      scheduler: { policy: "fifo", neverTogether: [["a", "b"]] },
    });
    const seen: (readonly string[])[] = [];
    const ids = [rig.schedule("a", [0, 20, 40]), rig.schedule("b", [10, 30, 50]), rig.schedule("c", [5])];
    for (let i = 0; i < 80; i++) {
      await rig.advance(1);
      seen.push(loadedOn(rig)["gpu0"] ?? []);
    }

    expect(await rig.statuses(ids.flat())).toEqual(Array(7).fill("succeeded"));
    expect(seen.filter((models) => models.includes("a") && models.includes("b"))).toEqual([]);
    expect(seen.at(-1)).toContain("c");
  });
});

describe("a claim that was too low", () => {
  it("is said once it is seen, and what was seen is booked from then on", async () => {
    let usedGiB = 0;
    const took: Record<string, number> = { a: 35, b: 30, c: 30 };
    const rig = await open({
      devices: { gpu0: { memoryGiB: 80, memoryProbe: { command: ["free-gib"], unit: "GiB" } } },
      models: { a: { memoryGiB: 20 }, b: { memoryGiB: 30 }, c: { memoryGiB: 30 } },
      freeGiB: () => 80 - usedGiB,
      wrap: (backend) =>
        new Proxy(backend, {
          get: (target, key) => {
            if (key === "start")
              return async (...args: Parameters<typeof backend.start>) => {
                const started = await target.start(...args);
                usedGiB += took[args[0].model] ?? 0;
                return started;
              };
            if (key === "stop")
              return async (...args: Parameters<typeof backend.stop>) => {
                const stopped = await target.stop(...args);
                usedGiB -= took[args[0].model] ?? 0;
                return stopped;
              };
            const value: unknown = Reflect.get(target, key);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
    });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(10);
    await rig.submit("b", { leaseMs: null });
    await rig.advance(10);
    const c = await rig.submit("c", { leaseMs: null });

    await rig.advance(20);

    expect(rig.of("memory.over_claim")).toMatchObject([{ model: "a", claimedGiB: 20, measuredGiB: 35 }]);
    expect(rig.engine.status().models[0]).toMatchObject({ memoryGiB: 20, measuredGiB: 35 });
    expect(rig.moves().at(-1)).toMatchObject({ kind: "swap", load: "c" });
    expect(await rig.statuses([c])).toEqual(["succeeded"]);
    expect(rig.of("device.blocked")).toEqual([]);
  });
});
