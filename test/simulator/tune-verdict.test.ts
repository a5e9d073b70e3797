import { describe, expect, it } from "vitest";
import { candidatesFor } from "../../src/simulator/tune-parameters.ts";
import { type DayResult, judge, type Table } from "../../src/simulator/tune-verdict.ts";

interface Told {
  readonly mean: number;
  readonly p99?: number;
}

const NONE = new Float64Array();
const day = ({ mean, p99 = 100 }: Told): DayResult => ({
  weightedMeanWaitSeconds: mean,
  loadingShare: 0.1,
  swaps: 1,
  waits: { interactive: Float64Array.of(1, p99), normal: NONE, batch: NONE },
});

/** One parameter with two values, each day's means given. */
function table(base: readonly Told[], half: readonly Told[], double: readonly Told[] = base): Table {
  const candidate = (factor: number, value: number) => ({ parameter: "price", factor, set: { price: value } });
  return {
    bases: base.map(day),
    others: [
      { candidate: candidate(0.5, 1), days: half.map(day) },
      { candidate: candidate(2, 4), days: double.map(day) },
    ],
  };
}
const days = (...means: number[]): Told[] => means.map((mean) => ({ mean }));

describe("a parameter", () => {
  it("that gains a fifth on each of five days passes, with the value that does", () => {
    const [verdict] = judge(table(days(10, 10, 10, 10, 10), days(8, 8, 8, 8, 8)));

    expect(verdict).toMatchObject({ passes: true, set: { price: 1 }, agreeing: 5 });
    expect(verdict?.medianGain).toBeCloseTo(0.2);
  });

  it("does not pass on four days, however much it gains", () => {
    const [verdict] = judge(table(days(10, 10, 10, 10), days(1, 1, 1, 1)));

    expect(verdict).toMatchObject({ passes: false, why: "4 days are not enough" });
  });

  it("that gains much on one day and nothing on the others does not pass: that day had chosen it", () => {
    const [verdict] = judge(table(days(10, 10, 10, 10, 100), days(10, 10, 10, 10, 10)));

    expect(verdict?.passes).toBe(false);
    expect(verdict?.medianGain).toBeLessThan(0.1);
    // On the day that spoke for it, the others had not chosen it.
    expect(verdict?.heldOutGains[4]).toBe(0);
  });

  it("is judged on a day by the value that the other days chose, not by its own best", () => {
    // Half is best on four days; on the fifth it is bad, and double good: held out, that day is judged by half.
    const [verdict] = judge(table(days(10, 10, 10, 10, 10), days(7, 7, 7, 7, 15), days(12, 12, 12, 12, 5)));

    expect(verdict?.heldOutGains[4]).toBeCloseTo(-0.5);
  });

  it("that gains a twentieth does not pass", () => {
    const [verdict] = judge(table(days(10, 10, 10, 10, 10), days(9.5, 9.5, 9.5, 9.5, 9.5)));

    expect(verdict).toMatchObject({ passes: false, why: expect.stringContaining("5.0 %, under 10 %") });
  });

  it("that makes a band's p99 a tenth worse does not pass, whatever it gains", () => {
    const after = days(5, 5, 5, 5, 5).map((each) => ({ ...each, p99: 115 }));

    const [verdict] = judge(table(days(10, 10, 10, 10, 10), after));

    expect(verdict).toMatchObject({ passes: false, why: "the p99 of interactive jobs becomes 15 % worse" });
  });

  it("that helps nobody stays as it is", () => {
    const [verdict] = judge(table(days(10, 10, 10, 10, 10), days(11, 11, 11, 11, 11)));

    expect(verdict).toMatchObject({ passes: false, set: {}, medianGain: 0, why: "what holds now is best" });
  });
});

describe("candidates", () => {
  it("lie within the half and the double of what holds, one setting each, and never touch a band's weight", () => {
    const settings = {
      price: 2,
      swapShare: 0.2,
      visitSeconds: { interactive: 1_200, normal: 5_400, batch: 43_200 },
      holdMax: 0,
      weight: { interactive: 10 },
    };

    const found = candidatesFor("stint", settings);

    expect(found.map(({ set }) => Object.keys(set).length)).toEqual(found.map(() => 1));
    expect(new Set(found.map(({ parameter }) => parameter))).toEqual(new Set(["price", "swapShare", "visitSeconds"]));
    for (const { factor } of found) expect([factor >= 0.5, factor <= 2]).toEqual([true, true]);
    expect(found.find(({ parameter, factor }) => parameter === "visitSeconds" && factor === 2)?.set).toEqual({
      visitSeconds: { interactive: 2_400, normal: 10_800, batch: 86_400 },
    });
  });

  it("are none where a setting is off", () => {
    expect(candidatesFor("longest", { maxWaitSeconds: null, minResidencySeconds: null })).toEqual([]);
  });
});
