// A second policy in shadow: what it would have done is kept, and nothing that it says is done.

import { describe, expect, it } from "vitest";
import { given } from "../given.ts";

const MODELS = { chat: { loadMs: 10_000 }, code: { loadMs: 10_000 } };
const ALL = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, after: null, limit: 100 };

async function busyMinute(shadow: object | null) {
  const world = await given({
    models: MODELS,
    policy: "longest",
    scheduler: { shadow },
    resident: "chat",
  });
  for (let i = 0; i < 20; i++) world.arrive("chat", { atMs: i * 3_000, tokens: 400 });
  world.arrive("code", { atMs: 5_000 });
  await world.runUntilIdle();
  await world.answer(world.store.ping());
  return world;
}

describe("a policy in shadow", () => {
  it("is not obeyed: the same jobs start at the same instants as without it", async () => {
    const alone = await busyMinute(null);
    const watched = await busyMinute({ policy: "fifo", set: { strict: true } });

    const starts = (world: typeof alone) => world.ofType("job.dispatched").map(({ dispatch }) => dispatch.queueWaitMs);
    expect(watched.order()).toEqual(alone.order());
    expect(starts(watched)).toEqual(starts(alone));
    expect(alone.ofType("shadow.disagreed")).toEqual([]);
  });

  it("has each disagreement stored once, with its verdict and the decision it disagrees with", async () => {
    const world = await busyMinute({ policy: "fifo", set: { strict: true } });

    const { data } = await world.store.history.shadows(ALL);

    expect(data.length).toBeGreaterThan(0);
    expect(data.length).toBe(world.ofType("shadow.disagreed").length);
    // Strict order would swap for the one job of the other model; longest keeps what is loaded.
    expect(data[0]).toMatchObject({ policy: "fifo", set: { strict: true }, verdict: { kind: "swap", load: "code" } });
    expect(world.ofType("shadow.disagreed")[0]).toMatchObject({ done: "stay", wished: "move" });
    expect(data.length).toBeLessThan(5);
    const decision = data[0]?.decision;
    expect(world.decisions().some(({ id }) => id === decision)).toBe(true);
  });

  it("that is the policy itself agrees", async () => {
    const world = await busyMinute({});

    expect(world.ofType("shadow.disagreed")).toEqual([]);
  });

  it("takes only settings that a policy has", async () => {
    await expect(given({ models: MODELS, scheduler: { shadow: { set: { maxWait: 3 } } } })).rejects.toThrow(/maxWait/);
    await expect(given({ models: MODELS, scheduler: { shadow: { policy: "stnt" } } })).rejects.toThrow(
      /shadow\.policy/,
    );
  });
});
