import { beforeAll, describe, expect, it } from "vitest";
import { accountOf, FAITHFUL, fidelityOf, movedMost } from "../../src/simulator/compare.ts";
import { recordedOutcome } from "../../src/simulator/outcome.ts";
import { recordedWork } from "../../src/simulator/recorded-work.ts";
import type { Traffic } from "../../src/simulator/traffic.ts";
import { whatIf } from "../../src/simulator/what-if.ts";
import { HOUR_MS, madeDay, recordTraffic } from "./recorded-day.ts";

describe("a recorded day, run again", () => {
  let traffic: Traffic;
  beforeAll(async () => {
    traffic = await recordTraffic(madeDay(8), 2, 6);
  }, 120_000);

  it("with the settings that ran gives the recorded swaps, and every job starts when it did", async () => {
    const recorded = recordedOutcome(traffic);

    const replayed = await whatIf(traffic, recordedWork(traffic), { title: "again" });

    const fidelity = fidelityOf(recorded, replayed);
    expect(fidelity).toMatchObject({ faithful: true, withinOneSecond: 1 });
    expect(fidelity.recordedSwaps).toBeGreaterThan(50);
    expect(fidelity.replayedSwaps).toBe(fidelity.recordedSwaps);
    expect(fidelity.meanError).toBeLessThan(1e-6);
    const [was, is] = [accountOf(recorded), accountOf(replayed)];
    expect(is.bands).toEqual(was.bands);
    expect(is.loadingShare).toBeCloseTo(was.loadingShare, 6);
    expect(was.all.jobs).toBe(
      traffic.jobs.filter(({ acceptedAtMs: at }) => at >= traffic.range.fromMs && at < traffic.range.toMs).length,
    );
  }, 120_000);

  it("with other settings gives other swaps, and says who gained and who lost", async () => {
    const recorded = recordedOutcome(traffic);

    const other = await whatIf(traffic, recordedWork(traffic), { title: "longest", change: { policy: "longest" } });

    expect(other.swaps).not.toBe(recorded.swaps);
    expect(accountOf(other).loadingShare).not.toBeCloseTo(accountOf(recorded).loadingShare, 4);
    const { gained, lost } = movedMost(recorded, other, 3);
    expect([gained.length, lost.length]).toEqual([3, 3]);
    expect(gained[0]?.beforeSeconds).toBeGreaterThan(gained[0]?.afterSeconds ?? 0);
    expect(lost[0]?.beforeSeconds).toBeLessThan(lost[0]?.afterSeconds ?? 0);
    expect(recorded.jobs.some(({ id }) => id === lost[0]?.id)).toBe(true);
  }, 120_000);

  it("refuses settings that the configuration would refuse, in its words", async () => {
    const change = { set: { maxWaitSeconds: 10 } };

    await expect(whatIf(traffic, recordedWork(traffic), { title: "x", change })).rejects.toThrow(/maxWaitSeconds/);
  });

  it("is called unfaithful when its loads take longer than they did", async () => {
    const work = recordedWork(traffic);
    const slow = [...work.models].map(
      ([name, model]) =>
        [name, { ...model, loads: model.loads.map((load) => ({ ...load, tookMs: load.tookMs * 1.5 })) }] as const,
    );

    const replayed = await whatIf(traffic, { ...work, models: new Map(slow) }, { title: "slow" });

    const fidelity = fidelityOf(recordedOutcome(traffic), replayed);
    expect(fidelity.faithful).toBe(false);
    expect(fidelity.meanError).toBeGreaterThan(FAITHFUL.meanShare);
    expect(fidelity.sentence).toContain("NOT faithful");
  }, 120_000);
});

describe("recorded traffic", () => {
  it("begins a replay where nothing was queued or running, with what was loaded then", async () => {
    const traffic = await recordTraffic(madeDay(5), 3, 4);

    const before = traffic.jobs.filter(({ acceptedAtMs }) => acceptedAtMs < traffic.startMs);
    const running = traffic.jobs.filter(
      ({ acceptedAtMs, finishedAtMs }) => acceptedAtMs < traffic.startMs && (finishedAtMs ?? 0) > traffic.startMs,
    );
    expect(before).toEqual([]);
    expect(running).toEqual([]);
    expect(traffic.startMs).toBeLessThanOrEqual(traffic.range.fromMs);
    expect(traffic.range.fromMs - traffic.startMs).toBeLessThan(3 * HOUR_MS);
    expect(traffic.resident).toHaveLength(1);
    expect(traffic.learned.length).toBeGreaterThan(5);
  }, 120_000);
});
