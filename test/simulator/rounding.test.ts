import { describe, expect, it } from "vitest";
import { fixed, percentile, round } from "../../src/simulator/rounding.ts";

describe("rounding", () => {
  it("takes exact halves to the even digit, as Python does, or up", () => {
    expect([0.5, 1.5, 2.5, 4.5, -0.5].map((value) => round(value, "half-even"))).toEqual([0, 2, 2, 4, 0]);
    expect([0.5, 1.5, 2.5, 4.5].map((value) => round(value, "half-up"))).toEqual([1, 2, 3, 5]);
  });

  it("prints a quarter second as Python does", () => {
    expect(fixed(0.25, "half-even")).toBe("0.2");
    expect(fixed(0.25, "half-up")).toBe("0.3");
    expect(fixed(3.75, "half-even")).toBe("3.8");
    expect(fixed(9.816_666, "half-even")).toBe("9.8");
  });

  it("still knows a half after sums in binary", () => {
    const sum = 0.1 + 0.2 - 0.05;

    expect(fixed(sum, "half-even")).toBe("0.2");
  });

  it("picks the fifth of ten for the median under half-even, the sixth under half-up", () => {
    const ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

    expect(percentile(ten, 50, "half-even")).toBe(4);
    expect(percentile(ten, 50, "half-up")).toBe(5);
    expect(percentile(ten, 99, "half-even")).toBe(9);
    expect(percentile([], 50, "half-even")).toBe(0);
  });
});
