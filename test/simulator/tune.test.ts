import { beforeAll, describe, expect, it } from "vitest";
import { DAY_MS, tune } from "../../src/simulator/tune.ts";
import type { History } from "../../src/store/history.ts";
import { HOUR_MS, madeDay, record } from "./recorded-day.ts";
import { shiftedHistory } from "./shifted-history.ts";

/** Loads are called so dear that nobody who waits is worth one before long. */
const SLUGGISH = {
  title: "sluggish",
  scheduler: { policy: "model-score", maxWaitSeconds: 600, minResidencySeconds: 30, switchCostWeight: 8 },
};

describe("days of traffic under a switch cost that is too high", () => {
  let history: History;
  let startMs = 0;
  beforeAll(async () => {
    history = await record(madeDay(1.3), SLUGGISH, async (recorded, run) => {
      startMs = run.startMs;
      return shiftedHistory(
        recorded,
        [0, 1, 2, 3, 4].map((day) => day * DAY_MS),
      );
    });
  }, 120_000);

  it("let a setting be changed that gains on days it was not chosen on, and draw the curve", async () => {
    const report = await tune(history, { endMs: startMs - HOUR_MS + 5 * DAY_MS, days: 5 });

    expect(report.countedDays).toBe(5);
    expect(report.policy).toBe("model-score");
    expect(report.curve[0]).toMatchObject({ parameter: "as it is", factor: 1 });
    expect(report.curve).toHaveLength(1 + 16 - report.refused.length);
    expect(report.curve.some(({ efficient }) => efficient)).toBe(true);
    expect(report.proposal).toMatchObject({ parameter: "switchCostWeight", policy: "model-score" });
    expect(report.proposal?.set["switchCostWeight"]).toBeLessThan(8);
    expect(report.proposal?.base).toMatchObject({ switchCostWeight: 8, maxWaitSeconds: 600 });
    expect(report.verdict).toMatch(/^Try \{"switchCostWeight":[\d.]+\}: it took \d+ % off/);
  }, 240_000);

  it("of which there are too few change nothing, and say what is missing", async () => {
    const report = await tune(history, { endMs: startMs - HOUR_MS + 2 * DAY_MS, days: 4 });

    expect(report.proposal).toBeNull();
    expect(report.countedDays).toBe(2);
    expect(report.verdict).toContain("2 of the last 4 days can be counted, and 5 are needed; 3 more");
    expect(report.days.filter(({ counted }) => !counted).map(({ note }) => note)).toEqual([
      "No job was recorded in that time.",
      "No job was recorded in that time.",
    ]);
  }, 240_000);
});
