// Engines that lie: healthy and stuck, gone while their memory is not, left running by a router that was killed.

import { afterEach, describe, expect, it } from "vitest";
import { overlay } from "../world/overlay.ts";
import { openRig, Rig, type RigOptions } from "./rig.ts";

const rigs: Rig[] = [];
const open = async (options: RigOptions): Promise<Rig> => {
  const rig = await openRig(options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) expect(rig.faults).toEqual([]);
});

describe("an engine that looks healthy and admits nothing", () => {
  const hang = { kind: "hang", afterTokens: 0 } as const;

  it("is restarted once, and its job runs again", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 2, stallSeconds: 60, concurrency: 4 } },
      faults: { request: ({ epoch }) => (epoch === 1 ? hang : null) },
      wrap: (backend) => overlay(backend, { answers: async ({ epoch }) => epoch !== 1 }),
    });
    const id = await rig.submit("a", { leaseMs: null });

    await rig.advance(55);
    const early = rig.of("instance.stuck").length;
    await rig.advance(80);

    expect(early).toBe(0);
    expect(rig.of("instance.stuck").map(({ restart }) => restart)).toEqual([true]);
    expect(rig.of("load.finished")).toHaveLength(2);
    expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, attempts: 1, interruptions: 1 });
  });

  it("counts as broken when the restart did not help, and the other model goes on", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 2, stallSeconds: 60, concurrency: 4 }, b: { loadSeconds: 2 } },
      faults: { request: ({ model }) => (model === "a" ? hang : null) },
      wrap: (backend) => overlay(backend, { answers: async ({ model }) => model !== "a" }),
    });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(200);
    const state = rig.engine.status().models[0]?.state;
    const other = await rig.submit("b", { leaseMs: null });
    await rig.advance(60);

    expect(rig.of("instance.stuck").map(({ restart }) => restart)).toEqual([true, false]);
    expect(state).toBe("broken");
    expect(await rig.statuses([other])).toEqual(["succeeded"]);
  });

  it("is left alone when it answers, however long its work is", async () => {
    const rig = await open({
      models: { a: { loadSeconds: 2, stallSeconds: 60, concurrency: 4, tokensPerSecond: 1 } },
      wrap: (backend) => overlay(backend, { answers: async () => true }),
    });
    const id = await rig.submit("a", { tokens: 600, leaseMs: null });

    await rig.advance(700);

    expect(rig.of("instance.stuck")).toEqual([]);
    expect(await rig.job(id)).toMatchObject({ state: { status: "succeeded" }, interruptions: 0 });
  });
});

describe("memory that does not come back", () => {
  const memory = { devices: { gpu0: { memoryGiB: 80, memoryProbe: { command: ["free-gib"], unit: "GiB" } } } } as const;
  const models = { a: { memoryGiB: 60, loadSeconds: 2 }, b: { memoryGiB: 60, loadSeconds: 2 } };

  it("holds the next load back until it is there", async () => {
    let freeGiB = 80;
    const rig = await open({ ...memory, models, freeGiB: () => freeGiB });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(10);
    freeGiB = 12;
    const id = await rig.submit("b", { leaseMs: null });
    await rig.advance(20);
    const early = rig.of("load.started").length;
    const askedAtS = (rig.clock.nowMs() - rig.startMs) / 1_000;

    freeGiB = 78;
    await rig.advance(20);

    expect(early).toBe(1);
    expect(await rig.statuses([id])).toEqual(["succeeded"]);
    expect(rig.of("load.started")[1]?.atS).toBeLessThan(askedAtS + 1);
    expect(rig.of("device.blocked")).toEqual([]);
  });

  it("blocks the device with the figures after a minute, and jobs go on waiting", async () => {
    let freeGiB = 80;
    const rig = await open({ ...memory, models, freeGiB: () => freeGiB });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(10);
    freeGiB = 12;
    const id = await rig.submit("b", { leaseMs: null });

    await rig.advance(120);
    const { state } = await rig.job(id);
    freeGiB = 80;
    await rig.advance(120);

    expect(rig.of("device.blocked")[0]?.detail).toBe("12.0 GiB are free, and b needs 60 GiB");
    expect(state.status).toBe("queued");
    expect(await rig.statuses([id])).toEqual(["succeeded"]);
  });
});

describe("a router after one that was killed", () => {
  it("adopts the engine that is still running instead of loading it again", async () => {
    const first = await open({ models: { a: { loadSeconds: 30 }, b: { loadSeconds: 30 } } });
    await first.submit("a", { leaseMs: null });
    await first.advance(40);
    const [instance] = first.of("load.finished").map(({ instance: each }) => each);
    const left = [{ instance, model: "a", device: "gpu0", endpoint: "mock", epoch: 7 }] as never;

    const second = new Rig({
      models: { a: { loadSeconds: 30 }, b: { loadSeconds: 30 } },
      clock: first.clock,
      database: first.database,
      seed: 2,
      wrap: (backend) =>
        overlay(backend, {
          inspect: async () => left,
          alive: async () => true,
          run: async (_, __, sink) => answer(sink),
        }),
    });
    await second.open();
    rigs.push(second);
    const id = await second.submit("a", { leaseMs: null });
    await second.advance(5);

    expect(second.of("instance.adopted").map(({ model }) => model)).toEqual(["a"]);
    expect(second.of("load.started")).toEqual([]);
    expect(await second.statuses([id])).toEqual(["succeeded"]);
  });
});

function answer(sink: { head(head: { status: number; headers: Record<string, string> }): void }): {
  kind: "succeeded";
} {
  sink.head({ status: 200, headers: {} });
  return { kind: "succeeded" };
}
