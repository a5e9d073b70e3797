// Faults that users of other model switchers reported, each as steps and the right behaviour.

import { afterEach, describe, expect, it } from "vitest";
import type { MockFaults } from "../../src/backends/mock/faults.ts";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const rigs: Rig[] = [];
const open = async (options: RigOptions): Promise<Rig> => {
  const rig = await openRig(options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) {
    expect(rig.faults).toEqual([]);
    expect(rig.ledger.violations).toEqual([]);
  }
});
const every = (seconds: number, count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => from + i * seconds);
const loads = (rig: Rig): number => rig.of("load.finished").filter(({ outcome }) => outcome === "ready").length;

describe("switching models", () => {
  it("serves at least once per load and never ping-pongs when two models arrive in alternation", async () => {
    const rig = await open({ models: { a: { loadSeconds: 3 }, b: { loadSeconds: 3 } } });
    const a = rig.schedule("a", every(3, 20));
    const b = rig.schedule("b", every(3, 20, 1.5));

    await rig.advance(400);

    const statuses = await rig.statuses([...a, ...b]);
    expect(statuses.every((status) => status === "succeeded")).toBe(true);
    expect(loads(rig)).toBeLessThanOrEqual(8);
  });

  it("starts a lone request within the ceiling, one run and one load, under overlapping traffic for another", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 3, concurrency: 2 }, b: { loadSeconds: 3 } },
      scheduler: { maxWaitSeconds: 40, minResidencySeconds: 10 },
    });
    rig.schedule("a", every(0.5, 400));
    await rig.advance(20);

    const lone = await rig.submit("b", { leaseMs: null });
    await rig.advance(60);

    const waitMs = (await rig.job(lone)).dispatch?.queueWaitMs ?? Number.POSITIVE_INFINITY;
    expect(waitMs).toBeLessThanOrEqual((40 + 1 + 3 + 0.6) * 1_000);
  });

  it("never overlaps two loads or two residents, with 20 mixed jobs at once", async () => {
    const rig = await open({ models: { a: { loadSeconds: 5 }, b: { loadSeconds: 5 }, c: { loadSeconds: 5 } } });
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) => rig.submit(["a", "b", "c"][i % 3] ?? "a", { leaseMs: null })),
    );

    await rig.advance(300);

    expect((await rig.statuses(ids)).every((status) => status === "succeeded")).toBe(true);
    expect(rig.ledger.violations).toEqual([]);
    expect(loads(rig)).toBe(3);
  });

  it("finishes an answer before it unloads the engine that gives it", async () => {
    const rig = await open({
      models: { a: { tokensPerSecond: 10 }, b: {} },
      scheduler: { minResidencySeconds: 0, maxWaitSeconds: 20 },
    });
    const long = await rig.submit("a", { tokens: 300, leaseMs: null });
    await rig.advance(4);
    const other = await rig.submit("b", { leaseMs: null });

    await rig.advance(60);

    expect(await rig.job(long)).toMatchObject({ state: { status: "succeeded" }, interruptions: 0, attempts: 1 });
    expect(await rig.endedAt(other)).toBeGreaterThan((await rig.endedAt(long)) ?? Number.POSITIVE_INFINITY);
  });

  it("does not let a victim's new work strand the model that is on its way", async () => {
    const rig = await open({
      models: { a: { tokensPerSecond: 10, concurrency: 2 }, b: {} },
      scheduler: { minResidencySeconds: 0, maxWaitSeconds: 15 },
    });
    await rig.submit("a", { tokens: 200, leaseMs: null });
    await rig.advance(5);
    const other = await rig.submit("b", { leaseMs: null });
    rig.schedule("a", every(1, 60, 12), { tokens: 10 });

    await rig.advance(80);

    expect((await rig.job(other)).state.status).toBe("succeeded");
  });
});

describe("a model that is stopping", () => {
  it.each(Array.from({ length: 12 }, (_, i) => i * 0.3))(
    "serves a request that arrives %s s into its stop",
    async (offset) => {
      const rig = await open({ models: { a: { loadSeconds: 2, unloadSeconds: 3, unloadAfterSeconds: 10 } } });
      await rig.submit("a", { leaseMs: null });
      await rig.advance(3);

      await rig.advance(10 + offset);
      const during = await rig.submit("a", { leaseMs: null });
      await rig.advance(8);
      const later = await rig.submit("a", { leaseMs: null });
      await rig.advance(8);

      expect(await rig.statuses([during, later])).toEqual(["succeeded", "succeeded"]);
      expect(loads(rig)).toBeLessThanOrEqual(2);
    },
  );
});

describe("a stop that does not free", () => {
  it("blocks the device with growing pauses, never starts on top, and goes on once it works", async () => {
    let stubborn = 3;
    const faults: MockFaults = { stop: () => (stubborn-- > 0 ? { kind: "ignores" } : null) };
    const rig = await open({ models: { a: {}, b: {} }, scheduler: { minResidencySeconds: 0 }, faults });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(10);

    const other = await rig.submit("b", { leaseMs: null });
    await rig.advance(60);
    const phases = rig.of("device.phase").map(({ phase }) => phase);
    await rig.advance(400);

    expect(phases).toContain("blocked");
    expect((await rig.job(other)).state.status).toBe("succeeded");
    expect(rig.ledger.violations).toEqual([]);
  });
});

describe("a model that is never ready", () => {
  it("fails its load at the deadline, with few tries that grow apart, and serves after it is mended", async () => {
    let broken = true;
    const faults: MockFaults = { load: ({ model }) => (broken && model === "x" ? { kind: "hang" } : null) };
    const rig = await open({
      models: { x: { loadSeconds: 1, loadTimeoutSeconds: 2, firstLoadTimeoutSeconds: 2 }, y: {} },
      faults,
    });
    const ids = await Promise.all(Array.from({ length: 5 }, () => rig.submit("x", { leaseMs: null })));
    const others = rig.schedule("y", every(5, 20));

    await rig.advance(100);
    const tries = rig.of("load.finished").filter(({ model }) => model === "x");
    broken = false;
    await rig.advance(900);
    const after = await rig.submit("x", { leaseMs: null });
    await rig.advance(900);

    expect(tries.length).toBeGreaterThan(1);
    expect(tries.length).toBeLessThanOrEqual(5);
    expect(tries.every(({ outcome }) => outcome === "timeout")).toBe(true);
    expect((await rig.statuses(others)).every((status) => status === "succeeded")).toBe(true);
    expect(await rig.statuses([after])).toEqual(["succeeded"]);
    expect((await rig.statuses(ids)).every((status) => status === "failed" || status === "succeeded")).toBe(true);
  });

  it("does not charge load and queue time to the job's own limits", async () => {
    const rig = await open({
      models: {
        a: { loadSeconds: 400, firstTokenSeconds: 350, runTimeoutSeconds: 360, firstByteTimeoutSeconds: 355 },
      },
      scheduler: { maxWaitSeconds: 4_000 },
    });

    const id = await rig.submit("a", { leaseMs: null, tokens: 4 });
    await rig.advance(800);

    expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, attempts: 1 });
  });
});

describe("idle models", () => {
  it("are loaded at start when they are to be preloaded, and unloaded after their time", async () => {
    const rig = await open({ models: { a: { preload: true, unloadAfterSeconds: 60 }, b: {} } });

    await rig.advance(10);
    const early = rig.engine.status().models[0]?.state;
    await rig.advance(120);

    expect(early).toBe("resident");
    expect(rig.engine.status().models[0]?.state).toBe("absent");
    expect(rig.moves().map(({ kind, reason }) => `${kind} ${reason}`)).toEqual([
      "preload keep_ready",
      "unload idle_timeout",
    ]);
  });

  it("are never evicted when pinned", async () => {
    const rig = await open({ models: { a: { pinned: true }, b: {} } });
    await rig.advance(10);

    const other = await rig.submit("b", { leaseMs: null });
    await rig.advance(500);
    const held = (await rig.job(other)).state.status;
    await rig.engine.operator.unpin("a" as never);
    await rig.advance(60);

    expect(held).toBe("queued");
    expect((await rig.job(other)).state.status).toBe("succeeded");
  });
});
