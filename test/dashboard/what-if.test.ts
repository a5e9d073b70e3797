import { describe, expect, it } from "vitest";
import { briefly, nameOf, valueText } from "../../dashboard/src/what-if/names.ts";
import { shapeOf, stopsOf } from "../../dashboard/src/what-if/stops.ts";
import { isThin, shift, trustWords, verdictOf } from "../../dashboard/src/what-if/verdict.ts";
import {
  commandOf,
  configLine,
  parseSet,
  readWish,
  requestOf,
  setText,
  trimmed,
} from "../../dashboard/src/what-if/wish.ts";
import type { Account, ReplayReport, Waits } from "../../src/client/wire-replay.ts";
import { settingChoices } from "../../src/simulator/setting-choices.ts";

const plain = (text: string): string => text.replaceAll("\u00a0", " ");
const waits = (mean: number, p99: number, jobs = 100): Waits => ({
  ...{ jobs, unserved: 0, meanSeconds: mean, p50Seconds: mean, p99Seconds: p99, maxSeconds: p99 },
});
const account = (title: string, batch: Waits, chat: Waits, more: Partial<Account> = {}): Account => ({
  ...{ title, all: batch, bands: { interactive: chat, normal: waits(0, 0, 0), batch }, models: { chat, oss: batch } },
  ...{ weightedMeanWaitSeconds: 1, swaps: 27, loads: 27, loadingShare: 0.15, deadlineMisses: 0, unserved: 0 },
  ...more,
});

function report(after: Account | null, counts = { gained: 29, lost: 272 }): ReplayReport {
  const before = account("replayed", waits(1_200, 2_460), waits(10, 1_080));
  const most = { gainedMost: [], lostMost: [] };
  return {
    ...{
      object: "replay",
      from: "",
      to: "",
      source: "",
      jobs: 1_717,
      policy: "model-score",
      fidelity: null,
      notes: [],
    },
    accounts: [{ ...before, title: "recorded" }, before, ...(after === null ? [] : [after])],
    others:
      after === null ? [] : [{ title: after.title, policy: "x", set: {}, against: "replayed", ...counts, ...most }],
    charts: [],
  };
}

describe("the verdict on other settings", () => {
  it("is believed as far as the replay of what ran came out, in its sums and in its single jobs", () => {
    expect(trustWords({ faithful: true, withinOneSecond: 0.97 })).toBe("✓ This can be trusted");
    expect(trustWords({ faithful: true, withinOneSecond: 0.371 })).toContain("not what single jobs would wait");
    expect(trustWords({ faithful: false, withinOneSecond: 0.97 })).toBe("! Read this with doubt");
  });

  it("says who gains and who loses, and what it costs", () => {
    const after = account("c", waits(1_380, 2_640), waits(9, 660), {
      swaps: 29,
      loadingShare: 0.16,
      deadlineMisses: 2,
    });

    expect(plain(verdictOf(report(after), (model) => model.toUpperCase()))).toBe(
      "The p99 wait of interactive jobs falls from 18 m to 11 m; the p99 wait of batch jobs rises from 41 m to 44 m. " +
        "29 jobs would have waited less, 272 longer. The losers are jobs of OSS (mean 20 m to 23 m). " +
        "29 swaps instead of 27; 16 % of the time goes into loading instead of 15 %. 2 jobs more would have missed a deadline.",
    );
  });

  it("names nobody where nobody loses, and nothing where nothing moves", () => {
    const same = account("c", waits(1_200, 2_460), waits(10, 1_080));

    expect(plain(verdictOf(report(same, { gained: 3, lost: 0 }), String))).toContain(
      "3 jobs would have waited less, nobody longer.",
    );
    expect(plain(verdictOf(report(same, { gained: 0, lost: 0 }), String))).toBe(
      "No band's waits would have moved by more than 5 %. Not one job would have waited a second less or more. " +
        "27 swaps either way; 15 % of the time goes into loading, as before.",
    );
    expect(verdictOf(report(null), String)).toContain("These are the settings that ran.");
  });

  it("calls a change one only beyond a second and a twentieth", () => {
    expect([shift(100, 104), shift(100, 106), shift(100, 90), shift(0, 0.9), shift(0, 1)]).toEqual([0, 1, -1, 0, 1]);
    expect(isThin({ ...report(null), jobs: 49 })).toBe(true);
  });
});

describe("what is to be tried", () => {
  const span = { from_ms: 3_600_000, to_ms: 40_000_000 };

  it("is an address, a request, a command and a line of the configuration", () => {
    const text = 'maxWaitSeconds=600,visitSeconds={"normal":60,"batch":3600},serveBeforeSwap=once';
    const wish = readWish(new URLSearchParams({ set: text, policy: "stint", hours: "1" }), span, 40_000_000);

    expect(setText(parseSet(text))).toBe(text);
    expect(requestOf(wish)).toEqual({
      ...{ from_ms: 36_420_000, to_ms: 40_020_000, policy: "stint" },
      set: { maxWaitSeconds: 600, visitSeconds: { normal: 60, batch: 3_600 }, serveBeforeSwap: "once" },
    });
    expect(commandOf(wish)).toBe(
      "sir replay --from 1970-01-01T10:07:00.000Z --to 1970-01-01T11:07:00.000Z --policy stint --set maxWaitSeconds=600" +
        ` --set 'visitSeconds={"normal":60,"batch":3600}' --set serveBeforeSwap=once`,
    );
    expect(configLine({ ...wish, set: { maxWaitSeconds: null } })).toBe(
      'scheduler: { policy: "stint", maxWaitSeconds: null }',
    );
    expect(configLine({ ...wish, policy: "", set: {} })).toBe("");
  });

  it("asks for nothing before the first job, and takes a stretch that was chosen elsewhere", () => {
    const week = readWish(new URLSearchParams("hours=168"), span, 40_000_000);
    const chosen = readWish(new URLSearchParams("from=9000000&to=12000000"), span, 40_000_000);

    expect(week).toMatchObject({ fromMs: 3_600_000, toMs: 40_020_000, policy: "", set: {} });
    expect(chosen).toMatchObject({ fromMs: 9_000_000, toMs: 12_000_000 });
  });

  it("holds only what differs", () => {
    expect(trimmed({ maxWaitSeconds: 120, price: 2 }, { maxWaitSeconds: 120, price: 1 })).toEqual({ price: 2 });
    expect(trimmed({ maxWaitSeconds: null }, {})).toEqual({});
  });
});

describe("the settings on the page", () => {
  const all = settingChoices({});

  it("can all be moved, and all have a name and a short sentence", () => {
    for (const setting of Object.values(all).flat()) {
      expect([setting.key, shapeOf(setting.schema)]).not.toEqual([setting.key, null]);
      expect(nameOf(setting.key)).toMatch(/^[A-Z]/);
      expect(briefly(setting)).toMatch(/^[A-Z][^;]{8,}$/);
      expect(valueText(setting.default, setting.unit)).not.toMatch(/undefined|NaN|\[object/);
    }
  });

  it("slide over values that the configuration takes, what ran among them", () => {
    const ceiling = all["model-score"]?.find(({ key }) => key === "maxWaitSeconds");
    const shape = shapeOf(ceiling?.schema ?? {});
    if (shape?.kind !== "number") throw new Error("the ceiling is a number");

    const stops = stopsOf("s", shape.bounds, [137]);

    expect(shape.nullable).toBe(true);
    expect(stops).toContain(137);
    expect(stops).toContain(600);
    expect(stops).not.toContain(0);
    expect(stops).toEqual([...stops].sort((a, b) => a - b));
    expect(stopsOf("factor", { least: 0, above: false, most: 1 }, [0.8])).toEqual([0, 0.08, 0.2, 0.4, 0.6, 0.8]);
  });
});
