import { describe, expect, it } from "vitest";
import type { Tuning } from "../../src/domain/tuning.ts";
import { judgeTuning } from "../../src/simulator/tuning-judge.ts";
import { madeDay, record } from "./recorded-day.ts";

const GOOD = { maxWaitSeconds: 600, minResidencySeconds: 30, switchCostWeight: 1 };
const BAD = { ...GOOD, switchCostWeight: 12 };

const trial = (atMs: number, base: object): Tuning => ({
  ...{ state: "live", atMs, untilMs: null, policy: "model-score", set: {}, watchMs: 1, reason: "" },
  base: { ...base },
});

const judged = (ran: object, base: object, hours = 2) =>
  record(madeDay(hours), { title: "x", scheduler: { policy: "model-score", ...ran } }, (history, run) =>
    judgeTuning(history, trial(run.startMs, base), run.startMs + run.elapsedMs),
  );

describe("settings on trial are judged by a replay of what held before on the very same traffic:", () => {
  it("harm is a band whose p99 is a tenth above it", async () => {
    const judgement = await judged(BAD, GOOD);

    expect(judgement.harm).toBe(true);
    expect(judgement.sentence).toMatch(
      /the p99 of \w+ jobs is [\d.]+ s and would have been [\d.]+ s under the settings before/,
    );
  }, 120_000);

  it("no harm is done where that would have been worse", async () => {
    expect(await judged(GOOD, BAD)).toMatchObject({
      harm: false,
      sentence: expect.stringContaining("no band's p99 is a tenth above"),
    });
  }, 120_000);

  it("nothing is said of settings that are the same", async () => {
    expect((await judged(GOOD, GOOD, 1)).harm).toBe(false);
  }, 120_000);
});
