// What the founding router did wrong, each as the right behaviour.

import { afterEach, describe, expect, it } from "vitest";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const rigs: Rig[] = [];
const open = async (options: RigOptions): Promise<Rig> => {
  const rig = await openRig(options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) expect(rig.faults).toEqual([]);
});

const every = (seconds: number, count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => from + i * seconds);

const slow = { loadSeconds: 310, unloadSeconds: 5, tokensPerSecond: 8 };
const roomy = { minResidencySeconds: 300, maxWaitSeconds: 900 };

describe("two models past the ceiling", () => {
  it.each([
    ["together", 0],
    ["apart", 200],
  ])("do not push each other out unserved: 36 of 36 by 9,000 s in at most 16 loads (arriving %s)", async (_, apart) => {
    const rig = await open({ models: { a: slow, b: slow, c: slow }, scheduler: roomy });
    const ids = ["a", "b", "c"].map((model, i) => rig.schedule(model, every(600, 12, i * apart)));

    await rig.advance(9_000);

    const statuses = await rig.statuses(ids.flat());
    expect(statuses.filter((status) => status === "succeeded")).toHaveLength(36);
    expect(rig.of("load.started").length).toBeLessThanOrEqual(16);
  });

  it("are both served while one of them generates 20,000 tokens", async () => {
    const rig = await open({
      models: { chat: { loadSeconds: 8, tokensPerSecond: 40 }, translate: { loadSeconds: 6, tokensPerSecond: 60 } },
    });
    const long = await rig.submit("chat", { tokens: 20_000, leaseMs: null });
    const others = rig.schedule("translate", every(20, 60, 5));
    const own = rig.schedule("chat", every(30, 40, 10));

    await rig.advance(3_600);

    const ended = await rig.statuses([...others, ...own]);
    expect(ended.every((status) => status === "succeeded")).toBe(true);
    expect((await rig.job(long)).state.status).not.toBe("expired");
  });
});

describe("an idle device", () => {
  it("loads for a single request at once", async () => {
    const rig = await open({ models: { a: slow, b: slow }, scheduler: roomy });
    await rig.submit("a", { leaseMs: null });
    await rig.advance(3_600);
    const askedAt = rig.clock.nowMs();

    const id = await rig.submit("b", { tokens: 8, leaseMs: null });
    await rig.advance(700);

    const { state } = await rig.job(id);
    expect(state.status).toBe("succeeded");
    expect("startedAtMs" in state && state.startedAtMs !== null ? state.startedAtMs - askedAt : 0).toBeLessThan(
      (310 + 5 + 1) * 1_000,
    );
  });
});

describe("a model that cannot load", () => {
  it("does not keep a healthy one from serving, and its jobs fail with the reason", async () => {
    const rig = await open({
      models: { good: { loadSeconds: 8 }, bad: { loadSeconds: 6 } },
      faults: {
        load: (placement) => (placement.model === "bad" ? { kind: "fail", message: "no kernel image" } : null),
      },
    });
    const good = rig.schedule("good", every(2, 300));
    const bad = rig.schedule("bad", [20]);

    await rig.advance(1_200);

    const served = (await rig.statuses(good)).filter((status) => status === "succeeded").length;
    expect(served).toBe(300);
    const waits = await Promise.all(good.map(async (id) => (await rig.job(id)).dispatch?.queueWaitMs ?? 0));
    expect(Math.max(...waits)).toBeLessThan(60_000);
    expect(rig.of("load.finished").filter(({ outcome }) => outcome === "failed").length).toBeLessThanOrEqual(6);
    const [id] = bad;
    const state = id === undefined ? null : (await rig.job(id)).state;
    expect(state).toMatchObject({ status: "failed", error: { code: "load_failed" } });
    expect(JSON.stringify(state)).toContain("no kernel image");
  });

  it("gives the device back to the model it pushed out", async () => {
    const rig = await open({
      models: { good: { loadSeconds: 8 }, bad: { loadSeconds: 6 } },
      faults: { load: (placement) => (placement.model === "bad" ? { kind: "fail" } : null) },
    });
    await rig.submit("good", { leaseMs: null });
    await rig.advance(60);

    await rig.submit("bad", { leaseMs: null });
    await rig.advance(16);

    expect(rig.moves().map(({ reason, load }) => `${reason} ${load}`)).toEqual(
      expect.arrayContaining(["restore good"]),
    );
    expect(rig.engine.status().models.find(({ spec }) => spec.name === "good")?.state).toBe("resident");
  });
});

describe("a drain", () => {
  it("ends at its deadline, and the interrupted job runs again", async () => {
    const rig = await open({
      models: { a: { tokensPerSecond: 1 }, b: {} },
      scheduler: { drainSeconds: 30, minResidencySeconds: 10 },
    });
    const long = await rig.submit("a", { tokens: 470, leaseMs: null });
    await rig.advance(5);
    const other = await rig.submit("b", { leaseMs: null });

    await rig.advance(200);

    expect(await rig.endedAt(other)).toBeLessThan(5 + 120 + 30 + 10);
    expect(rig.of("drain.overdue")).toHaveLength(1);
    await rig.advance(3_000);
    expect(await rig.job(long)).toMatchObject({ state: { status: "succeeded" }, attempts: 1, interruptions: 1 });
  });

  it("notices that the caller it waits for has gone", async () => {
    const rig = await open({ models: { a: { tokensPerSecond: 1 }, b: {} }, scheduler: { minResidencySeconds: 1 } });
    const long = rig.ask("a", { tokens: 200 });
    await rig.advance(5);
    const other = await rig.submit("b", { leaseMs: null });
    await rig.advance(140);

    long.drop(0);
    await rig.advance(5);

    expect((await rig.job(other)).state.status).toBe("succeeded");
  });
});

describe("a load", () => {
  it("is abandoned when the only one who wanted it has gone and others wait", async () => {
    const rig = await open({ models: { a: { loadSeconds: 60 }, b: { loadSeconds: 4 } } });
    const gone = rig.ask("a");
    await rig.advance(1);
    const waiting = await rig.submit("b", { leaseMs: null });

    gone.drop(0);
    await rig.advance(6);

    expect((await rig.job(waiting)).state.status).toBe("succeeded");
    expect((await rig.job(gone.id)).state).toMatchObject({ status: "cancelled", reason: "disconnect" });
    expect(rig.of("load.finished").map(({ outcome }) => outcome)).toEqual(["abandoned", "ready"]);
  });

  it("goes on when the one who caused it has gone but another has joined", async () => {
    const rig = await open({ models: { a: { loadSeconds: 60 }, b: { loadSeconds: 4 } } });
    const first = rig.ask("a");
    await rig.advance(1);
    const second = await rig.submit("a", { leaseMs: null });
    const other = await rig.submit("b", { leaseMs: null });

    first.drop(0);
    await rig.advance(70);

    expect((await rig.job(second)).state.status).toBe("succeeded");
    expect(rig.of("load.finished")[0]?.outcome).toBe("ready");
    expect((await rig.job(other)).state.status).not.toBe("cancelled");
  });
});

describe("the loop", () => {
  it("wakes at completions: ten jobs of 0.1 s at one slot take 1 s after the load", async () => {
    const rig = await open({ models: { a: { concurrency: 1, loadSeconds: 2 } } });
    const ids = await Promise.all(Array.from({ length: 10 }, () => rig.submit("a", { tokens: 6, leaseMs: null })));

    await rig.advance(10);

    const ends = await Promise.all(ids.map((id) => rig.endedAt(id)));
    expect(Math.max(...ends.map((end) => end ?? Number.POSITIVE_INFINITY))).toBeLessThan(3.2);
  });

  it("keeps each model's own concurrency", async () => {
    const rig = await open({
      models: { a: { concurrency: 2, loadSeconds: 1 }, b: { concurrency: 5, loadSeconds: 1 } },
    });
    for (let i = 0; i < 10; i++) await rig.submit("b", { leaseMs: null });
    await rig.advance(1.5);
    const runningB = rig.engine.status().running;
    await rig.advance(60);
    for (let i = 0; i < 10; i++) await rig.submit("a", { leaseMs: null });
    await rig.advance(2);

    expect(runningB).toBe(5);
    expect(rig.engine.status().running).toBe(2);
  });
});
