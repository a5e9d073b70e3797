import { beforeAll, describe, expect, it } from "vitest";
import { founding, runPreset } from "../../src/simulator/presets.ts";
import { type ReplayRun, replay } from "../../src/simulator/replay.ts";
import { round } from "../../src/simulator/rounding.ts";
import { SCENARIOS } from "../../src/simulator/scenarios.ts";

/** [seconds, from, to, reason, score of the target, score of the resident] of each load. */
function moves(run: ReplayRun): unknown[] {
  return run.decisions
    .filter(({ kind }) => kind === "swap" || kind === "load")
    .map(({ atMs, evict, load, reason, models }) => {
      const score = (model: string | undefined): number | null => {
        const found = models.find((each) => each.model === model)?.score ?? null;
        return found === null ? null : round(found, "half-up", 4);
      };
      const from = evict[0] ?? null;
      const seconds = round((atMs - run.startMs) / 1_000, "half-up", 4);
      return [
        seconds,
        from,
        load,
        reason,
        from === null ? null : score(load ?? undefined),
        from === null ? null : score(from),
      ];
    });
}

function waits(run: ReplayRun, model: string): number[] {
  return run.jobs
    .filter((job) => job.model === model)
    .map((job) => round(((job.startedAtMs ?? 0) - job.arrivedAtMs) / 1_000, "half-up", 4))
    .sort((a, b) => a - b);
}

describe("the founding essay's table", () => {
  it("comes out to the digit, with the live rule's figures beside it", async () => {
    const { text } = await runPreset("essay");

    expect(text).toMatchInlineSnapshot(`
      "min_residency 0
        chat         wait p50    9.8s  p99   15.9s  max   15.9s  served 10/10
        translate    wait p50    9.0s  p99   15.2s  max   15.2s  served 10/10
        swaps 7   loads 8   loading 56.0s   gpu idle 77%   elapsed 300.5s
      min_residency 30 (as shipped)
        chat         wait p50    0.0s  p99   33.0s  max   33.0s  served 10/10
        translate    wait p50   11.5s  p99   41.5s  max   41.5s  served 10/10
        swaps 2   loads 3   loading 22.0s   gpu idle 87%   elapsed 300.5s
      the live rule, min_residency 0
        chat         wait p50    9.5s  p99   15.6s  max   15.6s  served 10/10
        translate    wait p50    8.8s  p99   14.9s  max   14.9s  served 10/10
        swaps 7   loads 8   loading 56.0s   gpu idle 77%   elapsed 300.5s
      the live rule, min_residency 30
        chat         wait p50    0.0s  p99   32.8s  max   32.8s  served 10/10
        translate    wait p50   11.5s  p99   41.5s  max   41.5s  served 10/10
        swaps 2   loads 3   loading 22.0s   gpu idle 87%   elapsed 300.5s
      "
    `);
  });

  describe("without residency", () => {
    let run: ReplayRun;
    beforeAll(async () => {
      run = await replay(SCENARIOS.essay, founding(0));
    });

    it("swaps seven times, at these instants and for these scores", () => {
      expect(moves(run)).toEqual([
        [0, null, "chat", "cold", null, null],
        [8.25, "chat", "translate", "challenger_wins", 2.625, 0],
        [19.25, "translate", "chat", "challenger_wins", 0.25, 0],
        [28, "chat", "translate", "challenger_wins", 6, 0],
        [37.05, "translate", "chat", "challenger_wins", 0.05, 0],
        [46.0667, "chat", "translate", "challenger_wins", 6.1, 0],
        [55.1167, "translate", "chat", "challenger_wins", 0.1167, 0],
        [64.1333, "chat", "translate", "challenger_wins", 5.45, 0],
      ]);
    });

    it("makes each job wait so long", () => {
      expect(waits(run, "chat")).toEqual([2, 3.75, 3.8167, 8, 9.75, 9.8167, 9.8833, 15.75, 15.8167, 15.8833]);
      expect(waits(run, "translate")).toEqual([1.3, 3.05, 3.1167, 7.3, 9.05, 9.1167, 13.3, 15.05, 15.1167, 15.1833]);
    });
  });

  describe("with thirty seconds of residency", () => {
    let run: ReplayRun;
    beforeAll(async () => {
      run = await replay(SCENARIOS.essay, founding(30));
    });

    it("swaps twice, at these instants and for these scores", () => {
      expect(moves(run)).toEqual([
        [0, null, "chat", "cold", null, null],
        [38, "chat", "translate", "challenger_wins", 51, 0],
        [66.5, "translate", "chat", "resident_idle", 18, 0],
      ]);
      expect(run.loads.map((load) => round(load.endedAtMs / 1_000, "half-up", 4))).toEqual([8, 44.5, 75]);
    });

    it("makes each job wait so long", () => {
      expect(waits(run, "chat")).toEqual([0, 0, 0, 0, 0, 2, 8, 21, 27, 33]);
      expect(waits(run, "translate")).toEqual([0, 0, 0, 5.5, 11.5, 17.5, 23.5, 29.5, 35.5, 41.5]);
    });
  });
});

describe("the other founding scenarios", () => {
  it.each([
    ["rare", { chat: [0, 24.5], translate: [32.5, 45.3] }, [11, 12, 84]],
    ["bursts", { chat: [9, 12.5], translate: [6, 8.5] }, [3, 4, 28]],
    ["three", { chat: [3.8, 33.2], translate: [26.3, 56.3], embed: [22.5, 52.5] }, [15, 16, 93]],
  ] as const)("print what they always printed: %s", async (name, expected, [swaps, loads, loading]) => {
    const { reports } = await runPreset(name, [founding(30)]);

    const [report] = reports;
    const digit = (value: number): number => round(value, "half-even", 1);
    const found = report?.models.map((each) => [each.model, [digit(each.p50WaitSeconds), digit(each.p99WaitSeconds)]]);
    expect(Object.fromEntries(found ?? [])).toEqual(expected);
    expect(report).toMatchObject({ swaps, loads, loadingSeconds: loading, failedLoads: 0 });
    expect(report?.served).toBe(report?.submitted);
  });
});

describe("A A B A C C B A, all at once", () => {
  it("needs three loads under every policy that collates, and more in exact order of arrival", async () => {
    const { reports } = await runPreset("collation");

    const loads = Object.fromEntries(reports.map(({ title, loads }) => [title, loads]));
    expect(loads).toEqual({ "model-score": 3, longest: 3, serial: 3, fifo: 3, "fifo, strict": 6 });
    expect(reports.every(({ served }) => served === 8)).toBe(true);
  });
});
