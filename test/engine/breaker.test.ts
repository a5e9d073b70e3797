import { describe, expect, it } from "vitest";
import { Breaker } from "../../src/engine/breaker.ts";
import { Learned } from "../../src/engine/learned.ts";

describe("the breaker of a model's loads", () => {
  it("backs off longer after each failure and quarantines at the limit", () => {
    const breaker = new Breaker(3);
    const delays: number[] = [];

    for (let i = 0; i < 5; i++) {
      breaker.failed(1_000, "no such image");
      delays.push(breaker.retryAtMs - 1_000);
    }

    expect(delays).toEqual([5_000, 10_000, 120_000, 240_000, 480_000]);
    expect(breaker.broken).toBe(true);
    expect(breaker.lastError).toBe("no such image");
  });

  it("is closed by one load that succeeds, and still counts what failed before", () => {
    const breaker = new Breaker(1);
    breaker.failed(0, "out of memory");

    breaker.succeeded();

    expect(breaker.broken).toBe(false);
    expect(breaker.retryAtMs).toBe(0);
    expect(breaker.failures).toBe(1);
  });
});

describe("learned load times", () => {
  it("start from the guess and become the median of the last five", () => {
    const learned = new Learned(60_000);
    expect(learned.loadMs()).toBe(60_000);

    for (const tookMs of [900_000, 10_000, 12_000, 11_000, 300_000, 13_000]) learned.loaded(tookMs);

    expect(learned.loadMs()).toBe(12_000);
  });
});
