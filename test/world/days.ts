// Which seeds run where: the days are dealt out to two files, so that two processes share them.

import { expect, it } from "vitest";
import { runDay } from "./day.ts";

const DAYS = 200;

export function itLivesThrough(share: 0 | 1): void {
  const { SEED, SEEDS } = process.env;
  const seeds =
    SEED === undefined
      ? Array.from({ length: Number(SEEDS ?? DAYS) }, (_, i) => i + 1).filter((seed) => seed % 2 === share)
      : [Number(SEED)].filter((seed) => seed % 2 === share);
  it.skipIf(seeds.length === 0).each(seeds.length === 0 ? [0] : seeds)("a day of seed %i", async (seed) => {
    const day = await runDay(seed);

    const replay = `Replay it with: SEED=${seed} npx vitest run -c vitest.world.config.ts test/world/days`;
    expect(day.violations, replay).toEqual([]);
  });
}
