import { describe, expect, it } from "vitest";
import { given } from "../given.ts";

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
});
