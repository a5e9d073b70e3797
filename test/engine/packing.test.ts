// Several models on one device: each is loaded, served, drained, lost and unloaded by itself.

import { afterEach, describe, expect, it } from "vitest";
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

const card = { devices: { gpu0: { memoryGiB: 80 } } } as const;
const trio = {
  a: { memoryGiB: 40, loadSeconds: 10 },
  b: { memoryGiB: 30, loadSeconds: 10 },
  c: { memoryGiB: 30, loadSeconds: 10 },
};
const FIFO = { scheduler: { policy: "fifo" } } as const;
const LONG = { tokens: 64 * 100, leaseMs: null };
const stateOf = (rig: Rig, model: string): string | undefined =>
  rig.engine.status().models.find(({ spec }) => spec.name === model)?.state;

describe("a model that fits beside what is loaded", () => {
  it("is loaded while the other goes on serving", async () => {
    const rig = await open({ ...card, ...FIFO, models: trio });
    const long = await rig.submit("a", LONG);
    await rig.advance(15);
    const other = await rig.submit("b", { leaseMs: null });
    await rig.advance(5);
    const later = await rig.submit("a", { leaseMs: null });

    await rig.advance(2);
    const meanwhile = await rig.statuses([long, other, later]);
    await rig.advance(20);

    expect(meanwhile).toEqual(["running", "queued", "succeeded"]);
    expect(await rig.statuses([long, other])).toEqual(["running", "succeeded"]);
    expect(rig.moves().map(({ kind, reason, evict }) => [kind, reason, evict])).toEqual([
      ["load", "cold", []],
      ["load", "fits", []],
    ]);
    expect(rig.moves()[1]?.sentence).toBe("Loaded b: it fits beside a.");
    const [device] = rig.engine.status().devices;
    expect(device).toMatchObject({ models: ["a", "b"], memoryGiB: 80, claimedGiB: 70 });
  });

  it("is never one that claims no figure: it has the device to itself", async () => {
    const rig = await open({ ...card, ...FIFO, models: { a: trio.a, b: { loadSeconds: 10 } } });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(15);
    await rig.submit("b", { leaseMs: null });

    await rig.advance(20);

    expect(rig.moves().map(({ kind, evict }) => [kind, evict])).toEqual([
      ["load", []],
      ["swap", ["a"]],
    ]);
  });
});

describe("a model that does not fit", () => {
  it("takes the place of the one that is worth least, and the other serves through drain and load", async () => {
    const rig = await open({ ...card, ...FIFO, models: trio });
    await rig.submit("b", { leaseMs: null });
    await rig.advance(12);
    const long = await rig.submit("a", LONG);
    await rig.advance(12);
    const c = await rig.submit("c", { leaseMs: null });
    await rig.advance(5);

    const beside = await rig.submit("a", { leaseMs: null });
    await rig.advance(2);
    const during = [stateOf(rig, "a"), stateOf(rig, "b"), stateOf(rig, "c")];
    await rig.advance(10);

    expect(await rig.statuses([long, beside, c])).toEqual(["running", "succeeded", "succeeded"]);
    expect(during).toEqual(["resident", "absent", "loading"]);
    expect(rig.moves().at(-1)).toMatchObject({ kind: "swap", load: "c", evict: ["b"] });
  });

  it("waits for all that is in its way, and says for whom", async () => {
    const rig = await open({ ...card, ...FIFO, models: { ...trio, big: { memoryGiB: 80, loadSeconds: 10 } } });
    await rig.submit("a", LONG);
    await rig.advance(12);
    await rig.submit("b", LONG);
    await rig.advance(12);
    const big = await rig.submit("big", { leaseMs: null });

    await rig.advance(10);
    const { wait } = rig.engine.status().models.find(({ spec }) => spec.name === "big") ?? {};
    await rig.advance(110);

    expect(wait).toMatchObject({ cause: "held", rule: "order", device: "gpu0" });
    expect(["a", "b"]).toContain(wait?.by);
    expect(await rig.statuses([big])).toEqual(["succeeded"]);
    expect(new Set(rig.moves().at(-1)?.evict)).toEqual(new Set(["a", "b"]));
  });
});

describe("on a shared device each model", () => {
  it("is lost by itself: its job is queued again, also while another loads, and the other's job runs on", async () => {
    const rig = await open({
      ...card,
      ...FIFO,
      models: trio,
      faults: { load: ({ model }) => (model === "a" ? { kind: "die_later", afterMs: 20_000 } : null) },
    });
    const lost = await rig.submit("a", LONG);
    await rig.advance(24);
    const b = await rig.submit("b", LONG);
    await rig.advance(9);

    const during = await rig.statuses([lost, b]);
    await rig.advance(14);

    expect(during).toEqual(["queued", "queued"]);
    expect(rig.of("instance.lost").map(({ model }) => model)).toEqual(["a"]);
    expect(await rig.job(lost)).toMatchObject({ state: { status: "running" }, interruptions: 1, attempts: 1 });
    expect(await rig.job(b)).toMatchObject({ state: { status: "running" }, interruptions: 0 });
  });

  it("idles out by itself while another works", async () => {
    const rig = await open({ ...card, ...FIFO, models: { ...trio, b: { ...trio.b, unloadAfterSeconds: 20 } } });
    await rig.submit("b", { leaseMs: null });
    await rig.advance(12);
    await rig.submit("a", LONG);

    await rig.advance(40);

    expect([stateOf(rig, "a"), stateOf(rig, "b")]).toEqual(["resident", "absent"]);
    expect(rig.moves().at(-1)).toMatchObject({ kind: "unload", reason: "idle_timeout", evict: ["b"] });
  });

  it("is unloaded by an operator while another loads, and that load goes on", async () => {
    const rig = await open({ ...card, ...FIFO, models: trio });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(15);
    const b = await rig.submit("b", { leaseMs: null });
    await rig.advance(3);

    await rig.engine.operator.unload("a" as never, false);
    await rig.advance(2);
    const early = [stateOf(rig, "a"), stateOf(rig, "b")];
    await rig.advance(10);

    expect(early).toEqual(["absent", "loading"]);
    expect(await rig.statuses([b])).toEqual(["succeeded"]);
    expect(rig.engine.status().devices[0]?.models).toEqual(["b"]);
  });

  it("stays when it is pinned, and what fits beside it comes and goes", async () => {
    const rig = await open({ ...card, ...FIFO, models: { ...trio, a: { ...trio.a, pinned: true } } });
    await rig.advance(12);
    const b = rig.schedule("b", [0, 40, 80]);
    const c = rig.schedule("c", [20, 60]);

    await rig.advance(160);

    expect(await rig.statuses([...b, ...c])).toEqual(Array(5).fill("succeeded"));
    expect(rig.moves().flatMap(({ evict }) => evict)).not.toContain("a");
    expect(rig.of("unload.finished").length).toBeGreaterThan(3);
  });
});

it("a failed load puts back everything that made room for it", async () => {
  const rig = await open({
    ...card,
    ...FIFO,
    models: { ...trio, big: { memoryGiB: 80, loadSeconds: 10 } },
    faults: { load: ({ model }) => (model === "big" ? { kind: "fail" } : null) },
  });
  await rig.submit("a", { leaseMs: null });
  await rig.advance(12);
  await rig.submit("b", { leaseMs: null });
  await rig.advance(12);
  await rig.submit("big", { leaseMs: 20_000 });

  await rig.advance(90);

  expect(new Set(rig.engine.status().devices[0]?.models)).toEqual(new Set(["a", "b"]));
});
