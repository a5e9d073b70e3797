import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJobId } from "../../src/domain/ids.ts";
import { createSeeded, createSimulatedIds } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";

const draw = (seed: number, count: number): number[] => {
  const seeded = createSeeded(seed);
  return Array.from({ length: count }, () => seeded.uint32());
};

describe("the seeded generator", () => {
  it("gives the same numbers for the same seed and others for another", () => {
    const first = draw(17, 100);

    expect(draw(17, 100)).toEqual(first);
    expect(draw(18, 100)).not.toEqual(first);
    expect(new Set(first).size).toBe(100);
  });

  it("gives a fork of the same name the same numbers, whatever its parent has drawn", () => {
    const fresh = createSeeded(5);
    const used = createSeeded(5);
    used.uint32();

    const numbers = [fresh.fork("arrivals").uint32(), fresh.fork("faults").uint32()];

    expect(used.fork("arrivals").uint32()).toBe(numbers[0]);
    expect(numbers[1]).not.toBe(numbers[0]);
  });

  it("stays inside its bounds", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat({ max: 100 }), (seed, from, width) => {
        const seeded = createSeeded(seed);

        const whole = seeded.integer(from, from + width);
        const real = seeded.uniform(from, from + width);

        expect(whole).toBeGreaterThanOrEqual(from);
        expect(whole).toBeLessThanOrEqual(from + width);
        expect(Number.isInteger(whole)).toBe(true);
        expect(real >= from && real <= from + width).toBe(true);
        expect(seeded.exponential(10)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("has the means it is asked for", () => {
    const seeded = createSeeded(1);
    const mean = (next: () => number): number => {
      let sum = 0;
      for (let i = 0; i < 40_000; i++) sum += next();
      return sum / 40_000;
    };

    expect(mean(() => seeded.uniform(0, 10))).toBeCloseTo(5, 0);
    expect(mean(() => seeded.exponential(3))).toBeCloseTo(3, 0);
    expect(mean(() => seeded.poisson(4))).toBeCloseTo(4, 0);
    expect(mean(() => seeded.logNormal(6, 0.8))).toBeCloseTo(6, 0);
    expect(mean(() => (seeded.chance(0.25) ? 1 : 0))).toBeCloseTo(0.25, 1);
  });

  it("refuses to pick from nothing", () => {
    expect(() => createSeeded(1).pick([])).toThrow("nothing to pick from");
  });
});

describe("simulated ids", () => {
  it("look like the live ones, never repeat, and sort by time", () => {
    const clock = new VirtualClock();
    const ids = createSimulatedIds(clock, 9);

    const made = Array.from({ length: 10_000 }, () => ids.next("job"));

    expect(made.every((id) => parseJobId(id) === id)).toBe(true);
    expect(new Set(made).size).toBe(10_000);
    expect([...made].sort()).toEqual(made);
  });

  it("are the same for the same seed", () => {
    const make = (seed: number): string => createSimulatedIds(new VirtualClock(), seed).next("dec");

    expect(make(3)).toBe(make(3));
    expect(make(3)).not.toBe(make(4));
  });
});
