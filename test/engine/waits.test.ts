import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { readExplanation } from "../../src/explain/read.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { given } from "../given.ts";
import { openRig } from "./rig.ts";

const MODELS = { chat: { loadMs: 10_000 }, code: { loadMs: 10_000 }, third: { loadMs: 5_000 } };
const FOREVER = Number.MAX_SAFE_INTEGER;

async function stretchesWith(jobs: number) {
  const world = await given({ models: MODELS, policy: "fifo", resident: "chat" });
  // All of them at once: what differs is how many wait, not when anything changes.
  for (let i = 0; i < jobs; i++) for (const model of ["chat", "code", "third"]) world.arrive(model, { tokens: 6_400 });
  await world.until("job.dispatched");
  await world.advance(1_000);
  await world.answer(world.store.ping());
  const all = [];
  for (const model of ["chat", "code", "third"]) all.push(...(await world.store.waits(model as never, 0, FOREVER)));
  return { world, all };
}

describe("why queues wait", () => {
  it("is written for each model, however many jobs wait", async () => {
    const few = await stretchesWith(12);
    const many = await stretchesWith(120);

    expect(many.all.length).toBe(few.all.length);
    expect(many.all.length).toBeGreaterThanOrEqual(3);
    expect(many.all.length).toBeLessThanOrEqual(9);
  });

  it("says with which error a load failed and when it is tried again", async () => {
    const world = await given({ models: { ...MODELS, bad: { loadMs: 1_000, backend: { failLoads: 99 } } } });
    world.arrive("bad");
    await world.until("load.finished");
    await world.advance(100);

    const model = world.engine.status().models.find(({ spec }) => spec.name === "bad");

    expect(model?.wait).toMatchObject({ cause: "model_broken", detail: { retryAtMs: model?.retryAtMs } });
    expect(model?.wait?.detail?.error).toContain("exit");
  });

  it("is that the router does not run, while it goes down", async () => {
    const { world } = await stretchesWith(12);
    const closed = world.engine.close();
    await world.advance(1_000);

    const causes = world.engine.status().models.map(({ wait }) => wait?.cause);

    expect(causes).toEqual(["router_down", "router_down", "router_down"]);
    await world.answer(closed);
  });

  it("is that the router does not run, from the crash to the first pass of the next one, however long that one starts", async () => {
    const options = { models: { chat: {}, code: {} }, jobs: { leaseSeconds: 600 } };
    const killed = await openRig(options);
    await killed.submit("chat", { tokens: 6_400 });
    const waiting = await killed.submit("code");
    await killed.advance(20);
    const database = new Database(killed.database.serialize());

    const clock = new VirtualClock(killed.clock.nowMs() + 10_000);
    const next = await openRig({ ...options, database, clock, seed: 2, bootSeconds: 7 });
    await next.advance(1);
    await next.store.ping();

    const telling = { nowMs: clock.nowMs(), label: (model: string) => model, place: null, observes: true };
    const told = await readExplanation(next.store, waiting, telling);
    const ms = (cause: string): number => told?.parts.find((part) => part.cause === cause)?.ms ?? 0;
    expect(ms("router_down")).toBeGreaterThanOrEqual(17_000);
    expect(ms("dispatch")).toBeLessThan(1_000);
    expect(told?.partial).toBe(false);
  });
});
