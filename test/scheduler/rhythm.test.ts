// Rhythms: what is an interval, what is a time of day, and how predictions are scored.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronPrediction, dailyPredictions, Rhythm } from "../../src/scheduler/rhythm.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("an interval", () => {
  test("is three gaps that hardly differ, and predicts one median gap on", () => {
    expect(cronPrediction([0, 30 * MINUTE, 60 * MINUTE])).toBeNull();
    expect(cronPrediction([0, 30 * MINUTE, 60 * MINUTE + 9_000, 90 * MINUTE])).toMatchObject({
      source: "cron",
      dueAtMs: 120 * MINUTE,
      toleranceMs: 0.04 * 30 * MINUTE + 20_000,
    });
  });

  test("is none once a gap differs by four per cent and twenty seconds", () => {
    const third = (gap: number) => cronPrediction([0, HOUR, 2 * HOUR, 2 * HOUR + gap]);
    const most = 0.04 * HOUR + 20_000;

    expect(third(HOUR + most - 1)).not.toBeNull();
    expect(third(HOUR + most)).toBeNull();
    expect(third(HOUR - most)).toBeNull();
  });

  test("is told by the last four starts, whatever came before", () => {
    expect(cronPrediction([0, 7, 5 * HOUR, 6 * HOUR, 7 * HOUR, 8 * HOUR])?.dueAtMs).toBe(9 * HOUR);
  });
});

describe("a time of day", () => {
  const morning = 7.5 * HOUR;

  test("needs two earlier days, each within 90 s", () => {
    const now = 2 * DAY;
    expect(dailyPredictions([morning], DAY)).toEqual([]);
    expect(dailyPredictions([morning, DAY + morning + 60_000], now)).toMatchObject([
      { source: "daily", toleranceMs: 90_000, probability: 0.8 },
    ]);
    expect(dailyPredictions([morning, DAY + morning + 91_000], now)).toEqual([]);
  });

  test("is given up when it holds on fewer than seven of ten days", () => {
    const days = (kept: readonly number[]) => dailyPredictions([0, ...kept.map((day) => day * DAY + morning)], 6 * DAY);

    expect(days([0, 1, 3, 4, 5])).toHaveLength(1);
    expect(days([0, 3, 4, 5])).toEqual([]);
  });

  test("twenty starts a day at random are hardly ever taken for one", () => {
    let wrong = 0;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 * DAY }), { minLength: 100, maxLength: 100 }), (starts) => {
        wrong += dailyPredictions(starts.toSorted((a, b) => a - b).slice(-64), 5 * DAY).length;
      }),
      { numRuns: 100 },
    );
    expect(wrong).toBeLessThan(100);
  });
});

describe("scores", () => {
  const settled = (rhythm: Rhythm) => ({ hits: rhythm.records.cron.hits, count: rhythm.records.cron.count });

  test("a start within the tolerance is right; an early one, a late one and none at all are wrong", () => {
    const from = (last: number) => {
      const rhythm = new Rhythm();
      for (const at of [0, HOUR, 2 * HOUR, 3 * HOUR]) rhythm.started(at);
      rhythm.started(last);
      return settled(rhythm);
    };
    expect(from(4 * HOUR + 2 * MINUTE)).toEqual({ hits: 1, count: 1 });
    expect(from(3.5 * HOUR)).toEqual({ hits: 0, count: 1 });
    expect(from(5 * HOUR)).toEqual({ hits: 0, count: 1 });
    const silent = new Rhythm();
    for (const at of [0, HOUR, 2 * HOUR, 3 * HOUR]) silent.started(at);
    expect(silent.passed(4 * HOUR)).toEqual([]);
    expect(silent.passed(5 * HOUR)).toEqual([{ source: "cron", right: false }]);
    expect(silent.predictions).toEqual([]);
  });

  test("each prediction is scored once, however often time is asked about", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 60 }), (gaps) => {
        const often = new Rhythm();
        const seldom = new Rhythm();
        let at = 0;
        const all = { often: 0, seldom: 0 };
        for (const gap of gaps) {
          for (let step = 1; step < gap; step++) all.often += often.passed(at + step * 3 * MINUTE).length;
          at += gap * 3 * MINUTE;
          all.often += often.started(at).length;
          all.seldom += seldom.started(at).length;
        }
        expect(often.records.cron.hits).toBe(seldom.records.cron.hits);
        expect(all.often).toBeGreaterThanOrEqual(all.seldom);
      }),
      { numRuns: 100 },
    );
  });
});
