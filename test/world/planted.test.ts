// A simulation that finds nothing proves nothing: each of these bugs must be found within a few days.

import { describe, expect, it } from "vitest";
import { runDay } from "./day.ts";
import { PLANTS } from "./planted.ts";

const DAYS = 5;

describe("a simulated day finds a planted bug", () => {
  it.each(PLANTS)("when $name", async (plant) => {
    let found: readonly string[] = [];
    for (let seed = 1; seed <= DAYS && found.length === 0; seed++) found = (await runDay(seed, plant)).violations;

    expect(found.length).toBeGreaterThan(0);
  });
});
