import { expect, it } from "vitest";
import { MOST_ATTEMPTS, retryDelayMs } from "../../src/webhooks/schedule.ts";

const HOUR_MS = 3_600_000;
const delays = (event: string): number[] =>
  Array.from({ length: MOST_ATTEMPTS - 1 }, (_, n) => retryDelayMs(event, n + 1, null) ?? Number.NaN);

it("ten attempts in a good three days, then it is given up", () => {
  const total = delays("evt_1").reduce((sum, each) => sum + each, 0);

  expect(MOST_ATTEMPTS).toBe(10);
  expect(total / HOUR_MS).toBeGreaterThan(60);
  expect(total / HOUR_MS).toBeLessThan(91);
  expect(retryDelayMs("evt_1", MOST_ATTEMPTS, null)).toBeNull();
});

it("moves each by up to a fifth, apart for each event, and the same each time for one", () => {
  const first = Array.from({ length: 500 }, (_, n) => retryDelayMs(`evt_${n}`, 1, null) ?? 0);

  expect(Math.min(...first)).toBeGreaterThanOrEqual(4_000);
  expect(Math.max(...first)).toBeLessThanOrEqual(6_000);
  expect(Math.max(...first) - Math.min(...first)).toBeGreaterThan(1_900);
  expect(delays("evt_7")).toEqual(delays("evt_7"));
});

it("waits as long as the receiver asks, never less than planned", () => {
  expect(retryDelayMs("evt_1", 1, HOUR_MS)).toBe(HOUR_MS);
  expect(retryDelayMs("evt_1", 9, 1_000)).toBeGreaterThan(19 * HOUR_MS);
});
