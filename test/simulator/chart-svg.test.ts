import { describe, expect, it } from "vitest";
import { ganttSvg, tradeOffSvg, waitsSvg } from "../../src/simulator/chart-svg.ts";
import type { JobOutcome, Outcome, Spell } from "../../src/simulator/outcome.ts";

const RANGE = { fromMs: 1_790_000_000_000, toMs: 1_790_003_600_000 };

function outcome(spells: readonly Spell[], waits: readonly number[] = []): Outcome {
  const jobs = waits.map((wait, i): JobOutcome => {
    const acceptedAtMs = RANGE.fromMs + i;
    const ends = { startedAtMs: acceptedAtMs + wait * 1_000, finishedAtMs: null, status: "succeeded" as const };
    return {
      id: `job_${i}`,
      model: "a",
      priority: i % 2 === 0 ? 100 : -100,
      acceptedAtMs,
      deadlineAtMs: null,
      ...ends,
    };
  });
  return { title: "<as it ran>", jobs, spells, swaps: 1, loads: 1, range: RANGE, devices: 1 };
}

const spell = (model: string, kind: Spell["kind"], fromMs: number, toMs: number): Spell => ({
  ...{ device: "gpu0", model, kind },
  fromMs: RANGE.fromMs + fromMs,
  toMs: RANGE.fromMs + toMs,
});
const count = (text: string, what: RegExp): number => [...text.matchAll(what)].length;

describe("the picture of a device", () => {
  it("has a lane for each model, a rectangle for each spell, and escapes what people named", () => {
    const svg = ganttSvg([
      outcome([
        spell("a&b", "resident", 0, 60_000),
        spell("a&b", "unloading", 60_000, 62_000),
        spell("code", "loading", 62_000, 90_000),
      ]),
    ]);

    expect(svg).toContain("gpu0 a&amp;b");
    expect(svg).toContain("&lt;as it ran>: 1 swaps");
    expect(count(svg, /fill="#7fb3d5"\/>/g)).toBe(2);
    expect(count(svg, /fill="#e59866"\/>/g)).toBe(2);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("stays small however often models change: spells closer than a pixel are one", () => {
    const spells = Array.from({ length: 20_000 }, (_, i) => spell("a", "loading", i * 180, i * 180 + 90));

    expect(count(ganttSvg([outcome(spells)]), /<rect/g)).toBeLessThan(1_500);
  });

  it("shows only what lies in the range", () => {
    const svg = ganttSvg([
      outcome([spell("old", "resident", -90_000, -60_000), spell("new", "resident", -60_000, 9_000_000)]),
    ]);

    expect(count(svg, /fill="#7fb3d5"\/>/g)).toBe(2);
    expect(svg).toContain('width="1030.0"');
  });
});

describe("the picture of waits", () => {
  it("has a panel for each band that has jobs, and a line for each outcome in it", () => {
    const one = outcome([], [0, 10, 100, 1_000]);

    const svg = waitsSvg([one, { ...one, title: "other" }]);

    expect(count(svg, /<polyline/g)).toBe(4);
    expect(svg).toContain(">interactive<");
    expect(svg).not.toContain(">normal<");
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe("the picture of a trade-off", () => {
  it("joins the points of a series, also where all are the same", () => {
    const point = (label: string, loadingShare: number, waitSeconds: number) => ({
      series: "price",
      label,
      loadingShare,
      waitSeconds,
    });

    const svg = tradeOffSvg([point("1", 0.1, 20), point("2", 0.05, 30)]);
    const flat = tradeOffSvg([point("1", 0, 0), point("2", 0, 0)]);

    expect([count(svg, /<circle/g), count(svg, /<polyline/g)]).toEqual([2, 1]);
    expect(svg + flat).not.toMatch(/NaN|undefined|Infinity/);
  });
});
