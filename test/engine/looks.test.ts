import { describe, expect, it } from "vitest";
import { TRAIL_MAX } from "../../src/domain/decision.ts";
import { given } from "../given.ts";

const MODELS = { chat: { loadMs: 10_000 }, code: { loadMs: 10_000 } };
/** A hold without end in sight: chat always has more to do, and nothing forces a swap. */
const HELD = { scheduler: { maxWaitSeconds: null, ageWeight: 0.01 } };

async function held(forMs: number, everyMs = 1_000) {
  const world = await given({ models: MODELS, policy: "model-score", resident: "chat", ...HELD });
  for (let atMs = 0; atMs < forMs; atMs += everyMs) world.arrive("chat", { atMs, tokens: 640 });
  world.arrive("code", { atMs: 500 });
  await world.clock.runUntil(world.clock.nowMs() + forMs);
  await world.answer(world.store.ping());
  return world;
}

describe("a stay that lasts", () => {
  it("is one row with how often it was confirmed, and the race each half minute", async () => {
    const world = await held(300_000);

    const rows = (await world.store.decisions({ limit: 100 })).data;
    const hold = rows.find(({ kind, reason }) => kind === "hold" && reason === "resident_wins");

    expect(rows.length).toBeLessThan(10);
    expect(hold?.looks?.times).toBeGreaterThan(100);
    const trail = hold?.looks?.trail ?? [];
    expect(trail.length).toBeGreaterThanOrEqual(8);
    expect(trail.length).toBeLessThanOrEqual(20);
    expect(trail[0]?.atMs).toBe(hold?.atMs);
    expect(Object.keys(trail.at(-1)?.scores ?? {}).sort()).toEqual(["chat", "code"]);
    expect(hold?.looks?.lastAtMs).toBeGreaterThanOrEqual(trail.at(-1)?.atMs ?? Number.NaN);
  });

  it("keeps at most so many samples however long it lasts, and its first", async () => {
    const world = await held(2 * 3_600_000, 5_000);

    const rows = (await world.store.decisions({ limit: 100 })).data;
    const longest = rows.reduce((a, b) => ((b.looks?.times ?? 1) > (a.looks?.times ?? 1) ? b : a));
    const trail = longest.looks?.trail ?? [];

    expect(trail.length).toBeGreaterThan(TRAIL_MAX / 2);
    expect(trail.length).toBeLessThanOrEqual(TRAIL_MAX);
    expect(trail[0]?.atMs).toBe(longest.atMs);
    expect(trail.map(({ atMs }) => atMs)).toEqual(trail.map(({ atMs }) => atMs).sort((a, b) => a - b));
  }, 60_000);
});
