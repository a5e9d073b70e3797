import fc from "fast-check";
import { expect, test } from "vitest";
import { BANDS } from "../../src/domain/band.ts";
import type { JobId } from "../../src/domain/ids.ts";
import { type Corrected, Scoring } from "../../src/engine/scoring.ts";

const ENOUGH = 20;

/** What was foreseen of a job, and what came of it, in ms; far apart, so that each outcome counts. */
const outcome = fc.record({
  band: fc.constantFrom(...BANDS),
  startsInMs: fc.integer({ min: 0, max: 4_000_000 }),
  runMs: fc.integer({ min: 0, max: 600_000 }),
  actualMs: fc.integer({ min: 0, max: 10_000_000 }),
});

function expectSound({ midMs, range }: Corrected, outcomes: number): void {
  expect(midMs).toBeGreaterThanOrEqual(0);
  if (outcomes < ENOUGH) expect(range).toBeNull();
  if (range === null) return;
  expect(range.observations).toBeGreaterThanOrEqual(ENOUGH);
  expect(range.lowMs).toBeGreaterThanOrEqual(0);
  expect(range.lowMs).toBeLessThanOrEqual(midMs);
  expect(range.highMs).toBeGreaterThanOrEqual(midMs);
}

test("a range holds its middle, is never negative and not stated below twenty outcomes, also after a restart", () => {
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 120 }), fc.constantFrom(0, 1_000), fc.nat(), (outcomes, softMs, cut) => {
      let scoring = new Scoring(softMs);
      for (const [i, { band, startsInMs, runMs, actualMs }] of outcomes.entries()) {
        if (i === cut % (outcomes.length + 1)) {
          const noted: unknown = JSON.parse(JSON.stringify(scoring.noted()));
          scoring = new Scoring(softMs);
          scoring.recall(noted);
          expect(scoring.noted()).toEqual(noted);
        }
        const atMs = i * 60_000;
        const projectedMs = startsInMs + runMs;
        const shown = scoring.corrected(band, projectedMs, startsInMs);
        expectSound(shown, i);
        scoring.told(`job_${i}` as JobId, band, { atMs, projectedMs, startsInMs, shown });
        scoring.came(`job_${i}` as JobId, atMs + actualMs);
      }
    }),
  );
});

test("what twenty outcomes taught is stated to the same by who reads it back", () => {
  const first = new Scoring(0);
  for (let i = 0; i < ENOUGH; i++) {
    const told = { atMs: i * 60_000, projectedMs: 10_000, startsInMs: 5_000, shown: { midMs: 10_000, range: null } };
    first.told(`job_${i}` as JobId, "normal", told);
    first.came(`job_${i}` as JobId, i * 60_000 + 8_000 + i * 1_000);
  }
  const next = new Scoring(0);
  next.recall(first.noted());

  for (const band of BANDS) {
    const known = first.corrected(band, 20_000, 5_000);
    expect(known.range).not.toBeNull();
    expect(next.corrected(band, 20_000, 5_000)).toEqual(known);
  }
});

test.each([null, 7, "spread", [], { normal: 3 }, { normal: { soon: ["a", null, -1, {}] }, all: { soon: "many" } }])(
  "a note that is none (%j) teaches nothing and harms nothing",
  (note) => {
    const scoring = new Scoring(0);
    scoring.recall(note);
    expect(scoring.corrected("normal", 10_000, 5_000)).toEqual({ midMs: 10_000, range: null });
  },
);
