// Settings on trial: a day in shadow, then obeyed and watched, then kept; and every way back.

import { describe, expect, it } from "vitest";
import type { TuningWish } from "../../src/engine/control.ts";
import { type Judgement, type OwnSettings, Tuner } from "../../src/engine/tuner.ts";
import { given } from "../given.ts";

const HOUR_MS = 3_600_000;
const WISH: TuningWish = {
  policy: "model-score",
  set: { switchCostWeight: 0 },
  base: { switchCostWeight: 8, maxWaitSeconds: 600 },
  shadowMs: HOUR_MS,
  watchMs: 10 * HOUR_MS,
};

async function trial(judgement: () => Judgement = () => ({ harm: false, sentence: "fine" })) {
  const world = await given({
    models: { chat: { loadMs: 10_000 }, code: { loadMs: 10_000 } },
    scheduler: { policy: "model-score", maxWaitSeconds: 600, minResidencySeconds: 0, switchCostWeight: 8 },
    resident: "chat",
  });
  const { config, engine, store, clock } = world;
  const own: OwnSettings = { scheduler: config.document.scheduler, policy: config.engine.policy, shadow: null };
  const weights: unknown[] = [];
  const judged: number[] = [];
  const make = (settings: OwnSettings = own): Tuner =>
    new Tuner({
      ...{ store, clock, own: settings },
      emit: (event) => void world.events.push(event),
      apply: async ({ policy, shadow }) => {
        weights.push(policy.settings?.["switchCostWeight"]);
        await engine.reconfigure({ ...config.engine, policy, shadow }, new Map(world.backends));
      },
      judge: async (_tuning, nowMs) => {
        judged.push(nowMs);
        return judgement();
      },
    });
  const tuner = make();
  await world.answer(tuner.start());
  /** Work for the other model while the resident has some: the two settings differ on it. */
  const disagree = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) world.arrive("chat", { atMs: world.elapsedMs() + i * 4_000, tokens: 300 });
    for (let i = 0; i < 5; i++) world.arrive("code", { atMs: world.elapsedMs() + 2_000 });
    await world.runUntilIdle();
  };
  const states = async () => (await store.history.tunings(9)).map(({ state }) => state).reverse();
  return { world, tuner, make, own, weights, judged, disagree, states };
}

describe("settings on trial", () => {
  it("are asked first, obeyed after their time in shadow, and kept when they did no harm", async () => {
    const { world, tuner, weights, judged, disagree, states } = await trial();

    await world.answer(tuner.propose(WISH));
    await disagree();
    const inShadow = [...weights];
    await world.advance(HOUR_MS + 2_000);
    const live = tuner.current;
    await world.advance(11 * HOUR_MS);

    expect(inShadow.every((weight) => weight === 8)).toBe(true);
    expect(live).toMatchObject({ state: "live", set: { switchCostWeight: 0 } });
    expect(weights.at(-1)).toBe(0);
    expect(judged).toHaveLength(10);
    await world.answer(world.store.ping());
    expect(await states()).toEqual(["shadow", "live", "kept"]);
    expect(await world.answer(tuner.propose(WISH))).toContain("write them into the configuration");
  });

  it("are taken back by the router itself as soon as a band is harmed", async () => {
    const { world, tuner, weights, disagree, states } = await trial(() => ({
      harm: true,
      sentence: "the p99 of batch jobs",
    }));
    await world.answer(tuner.propose(WISH));
    await disagree();

    await world.advance(2 * HOUR_MS + 4_000);

    expect(tuner.current).toMatchObject({ state: "returned", reason: "the p99 of batch jobs" });
    expect(weights.at(-1)).toBe(8);
    await world.answer(world.store.ping());
    expect(await states()).toEqual(["shadow", "live", "returned"]);
    expect(world.ofType("tuning").map(({ tuning }) => tuning.state)).toEqual(["shadow", "live", "returned"]);
  });

  it("that never disagreed in shadow are not obeyed", async () => {
    const { world, tuner, weights } = await trial();
    await world.answer(tuner.propose(WISH));

    await world.advance(HOUR_MS + 2_000);

    expect(tuner.current).toMatchObject({ state: "returned", reason: "in shadow it never disagreed" });
    expect(weights).not.toContain(0);
  });

  it("go on where they were after a restart", async () => {
    const { world, tuner, make, disagree, weights } = await trial();
    await world.answer(tuner.propose(WISH));
    await disagree();
    await world.advance(HOUR_MS + 2_000);
    await world.answer(world.store.ping());
    await tuner.close();

    const next = make();
    await world.answer(next.start());

    expect(next.current).toMatchObject({ state: "live", watchMs: 10 * HOUR_MS });
    expect(weights.at(-1)).toBe(0);
    await world.advance(11 * HOUR_MS);
    expect(next.current?.state).toBe("kept");
  });

  it("give way when the owner changes what they were made from", async () => {
    const { world, tuner, own, weights } = await trial();
    await world.answer(tuner.propose(WISH));
    const changed = { ...own, policy: { ...own.policy, settings: { ...own.policy.settings, switchCostWeight: 2 } } };

    await world.answer(tuner.adopt(changed));

    expect(tuner.current).toMatchObject({ state: "dropped" });
    expect(weights.at(-1)).toBe(2);
  });

  it("are refused when they were made from other settings, when others are on trial, and where nobody judges", async () => {
    const { world, tuner, own } = await trial();

    expect(await world.answer(tuner.propose({ ...WISH, base: { switchCostWeight: 1 } }))).toContain(
      "run sir tune again",
    );
    expect(await world.answer(tuner.propose({ ...WISH, set: { switchCostWeight: -1 } }))).toContain("switchCostWeight");
    await world.answer(tuner.propose(WISH));
    expect(await world.answer(tuner.propose(WISH))).toContain("on trial");
    expect(await world.answer(tuner.giveBack("an operator's wish"))).toMatchObject({ state: "returned" });
    expect(await world.answer(tuner.giveBack("again"))).toBeNull();
    const blind = new Tuner({ ...world, own, emit: () => undefined, apply: async () => undefined });
    expect(await blind.propose(WISH)).toContain("cannot judge");
  });
});
