// In what order the jobs of one model run.

import fc from "fast-check";
import { expect, test } from "vitest";
import { BANDS, bandOf } from "../../src/domain/band.ts";
import { type Ranking, rankOf, sameRanking } from "../../src/domain/ranking.ts";

const BANDED: Ranking = {
  kind: "bands",
  msPerPoint: 60_000,
  lagMs: { interactive: 0, normal: 1_200_000, batch: 14_400_000 },
};

test("a batch job is overtaken by the normal and interactive ones of the next four hours, not by later ones", () => {
  const key = (priority: number, acceptedAtMs: number): number => rankOf(BANDED, { priority, acceptedAtMs });

  expect(key(-100, 0)).toBe(14_400_000);
  expect(key(0, 0)).toBe(1_200_000);
  expect(key(100, 0)).toBe(0);
  expect(key(100, 14_399_999)).toBeLessThan(key(-100, 0));
  expect(key(100, 14_400_001)).toBeGreaterThan(key(-100, 0));
});

test("a point away from the band's anchor is worth a minute", () => {
  expect(rankOf(BANDED, { priority: 2, acceptedAtMs: 0 })).toBe(1_080_000);
  expect(rankOf(BANDED, { priority: -98, acceptedAtMs: 0 })).toBe(14_280_000);
  expect(rankOf(BANDED, { priority: 101, acceptedAtMs: 0 })).toBe(-60_000);
});

test("of two jobs that come together the one of the higher band is first, whatever their points", () => {
  const priority = fc.oneof(fc.integer({ min: -160, max: 160 }), fc.constantFrom(-1e6, 1e6, 49, 50, -49, -50));
  fc.assert(
    fc.property(priority, priority, fc.nat(), (a, b, acceptedAtMs) => {
      const [high, low] = BANDS.indexOf(bandOf(a)) < BANDS.indexOf(bandOf(b)) ? [a, b] : [b, a];
      if (bandOf(a) === bandOf(b)) return;
      const key = (each: number): number => rankOf(BANDED, { priority: each, acceptedAtMs });
      expect(key(high)).toBeLessThan(key(low));
    }),
  );
});

test("two rankings are the same when they give every job the same key", () => {
  expect(sameRanking(BANDED, structuredClone(BANDED))).toBe(true);
  expect(sameRanking(BANDED, { ...BANDED, msPerPoint: 1 })).toBe(false);
  expect(sameRanking(BANDED, { kind: "aging", msPerPoint: 60_000 })).toBe(false);
  expect(sameRanking(BANDED, { ...BANDED, lagMs: { interactive: 0, normal: 1, batch: 2 } })).toBe(false);
});
