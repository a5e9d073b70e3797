// What goes wrong in recorded traffic goes wrong again when it is replayed: callers that leave, deadlines that pass, loads
// and requests that fail, and a configuration that changes in the middle.

import { describe, expect, it } from "vitest";
import { setupOf } from "../../src/config/setup.ts";
import { accountOf, fidelityOf } from "../../src/simulator/compare.ts";
import { recordedOutcome } from "../../src/simulator/outcome.ts";
import { recordedWork } from "../../src/simulator/recorded-work.ts";
import { readTraffic, type Traffic } from "../../src/simulator/traffic.ts";
import { whatIf } from "../../src/simulator/what-if.ts";
import { type Given, given } from "../given.ts";

type World = Awaited<ReturnType<typeof given>>;

const CHAT = { loadMs: 10_000, unloadMs: 1_000, concurrency: 1, firstTokenMs: 0, tokensPerSecond: 10 };

async function world(over: Partial<Given> = {}): Promise<World> {
  const made = await given({ models: { chat: CHAT, code: CHAT }, policy: "longest", ...over });
  made.store.append([{ type: "setup", atMs: made.clock.nowMs(), setup: setupOf(made.config) }]);
  return made;
}

async function trafficOf(made: World): Promise<Traffic> {
  await made.answer(made.store.ping());
  const toMs = made.clock.nowMs() + 1;
  return readTraffic(made.store.history, { fromMs: toMs - made.elapsedMs() - 1, toMs });
}

async function replayed(traffic: Traffic) {
  const recorded = recordedOutcome(traffic);
  const again = await whatIf(traffic, recordedWork(traffic), { title: "again" });
  const ends = (outcome: typeof recorded) =>
    outcome.jobs.map(({ startedAtMs, finishedAtMs, status }) => [startedAtMs, finishedAtMs, status]);
  return { recorded, again, was: ends(recorded), is: ends(again) };
}

describe("replayed again as it was:", () => {
  it("callers that left while they waited and while they ran", async () => {
    const made = await world();
    const first = made.arrive("chat", { tokens: 300 });
    const second = made.arrive("chat", { tokens: 50 });
    const third = made.arrive("chat", { tokens: 50 });
    await made.advance(20_000);
    await made.answer(made.engine.cancel((await made.job(second)).id, "lease_expired"));
    await made.advance(5_000);
    await made.answer(made.engine.cancel((await made.job(first)).id, "client"));
    await made.runUntilIdle();
    expect((await made.job(third)).state.status).toBe("succeeded");

    const { was, is, recorded } = await replayed(await trafficOf(made));

    expect(is).toEqual(was);
    expect(recorded.jobs.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "succeeded"]);
    expect(accountOf(recorded).unserved).toBe(1);
  });

  it("deadlines that passed in the queue, and under a faster rule would not have", async () => {
    const made = await world({ scheduler: { maxWaitSeconds: null } });
    for (let i = 0; i < 6; i++) made.arrive("chat", { tokens: 100 });
    made.arrive("code", { atMs: 1_000, tokens: 20, headers: { "cancel-after": "40s" } });
    await made.runUntilIdle();
    const traffic = await trafficOf(made);

    const { was, is, recorded } = await replayed(traffic);
    const strict = await whatIf(traffic, recordedWork(traffic), {
      title: "x",
      change: { policy: "model-score", set: { maxWaitSeconds: 15, minResidencySeconds: 0 } },
    });

    expect(is).toEqual(was);
    expect(accountOf(recorded).deadlineMisses).toBe(1);
    expect(accountOf(strict).deadlineMisses).toBe(0);
  });

  it("loads that failed and were tried again, and a request that failed once", async () => {
    const models = { chat: { ...CHAT, backend: { failLoads: 1, failRequests: 1 } }, code: CHAT };
    const made = await world({ models });
    made.arrive("chat", { tokens: 50 });
    made.arrive("code", { atMs: 60_000, tokens: 50 });
    await made.runUntilIdle();
    const traffic = await trafficOf(made);

    const { was, is } = await replayed(traffic);

    expect(traffic.loads.map(({ outcome }) => outcome)).toEqual(["failed", "ready", "ready"]);
    expect(traffic.jobs[0]?.runs.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
    expect(is).toEqual(was);
  });

  it("another ranking from the middle on, for jobs that come after it too", async () => {
    const made = await world({ policy: "serial", scheduler: { agingDivisorSeconds: 60 } });
    const flat = await given({
      models: { chat: CHAT, code: CHAT },
      policy: "serial",
      scheduler: { agingDivisorSeconds: 1 },
    });
    made.arrive("chat", { tokens: 600 });
    await made.advance(30_000);
    await made.answer(made.engine.reconfigure(flat.config.engine, made.backends));
    made.store.append([{ type: "setup", atMs: made.clock.nowMs(), setup: setupOf(flat.config) }]);
    for (let i = 0; i < 8; i++)
      made.arrive("chat", { atMs: 31_000 + i * 3_000, tokens: 20, headers: { "sir-priority": String((i % 3) * 4) } });
    await made.runUntilIdle();

    const { was, is } = await replayed(await trafficOf(made));

    expect(is).toEqual(was);
  });

  it("another policy from the middle on", async () => {
    const made = await world();
    const burst = (fromMs: number): void => {
      for (let i = 0; i < 8; i++) made.arrive(i % 2 === 0 ? "chat" : "code", { atMs: fromMs + i * 1_000, tokens: 30 });
    };
    burst(0);
    burst(120_000);
    await made.advance(100_000);
    const strict = await given({ models: { chat: CHAT, code: CHAT }, policy: "fifo", scheduler: { strict: true } });
    await made.answer(made.engine.reconfigure(strict.config.engine, made.backends));
    made.store.append([{ type: "setup", atMs: made.clock.nowMs(), setup: setupOf(strict.config) }]);
    await made.runUntilIdle();
    const traffic = await trafficOf(made);

    const { was, is, recorded, again } = await replayed(traffic);

    expect(traffic.setups.map(({ setup }) => setup.effective.policy)).toEqual(["longest", "fifo"]);
    expect(is).toEqual(was);
    expect(fidelityOf(recorded, again).recordedSwaps).toBeGreaterThan(6);
    const all = await whatIf(traffic, recordedWork(traffic), { title: "x", change: { policy: "longest" } });
    expect(all.swaps).toBeLessThan(again.swaps);
  });

  it("models that lie side by side on a device, and on two of them", async () => {
    const sized = (memoryGiB: number) => ({ ...CHAT, config: { memoryGiB } });
    const made = await world({
      models: { chat: sized(30), code: sized(30), large: sized(70) },
      policy: "model-score",
      scheduler: { minResidencySeconds: 5, maxWaitSeconds: 60 },
      devices: { gpu0: { memoryGiB: 80 }, gpu1: { memoryGiB: 40 } },
    });
    for (let i = 0; i < 30; i++)
      made.arrive(["chat", "code", "large"][i % 3] ?? "chat", {
        atMs: i * 7_000 + (i % 5) * 1_500,
        tokens: 40 + (i % 7) * 20,
      });
    await made.runUntilIdle();
    const traffic = await trafficOf(made);

    const { was, is, recorded, again } = await replayed(traffic);

    expect(new Set(traffic.loads.map(({ device }) => device))).toEqual(new Set(["gpu0", "gpu1"]));
    expect(is).toEqual(was);
    expect(accountOf(again).loadingShare).toBeCloseTo(accountOf(recorded).loadingShare, 4);
    expect(again.devices).toBe(2);
  });
});
