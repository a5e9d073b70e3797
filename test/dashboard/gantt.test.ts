import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { depthData, withPoint } from "../../dashboard/src/now/depth.ts";
import { keyOfWindow, rangeBackTo, windowAt } from "../../dashboard/src/now/window.ts";
import {
  barAt,
  barsOf,
  lanesOf,
  marksOf,
  scaleOf,
  shortened,
  ticksOf,
} from "../../dashboard/src/parts/gantt-layout.ts";
import { logShare } from "../../dashboard/src/parts/wait-bar.tsx";
import type { MoveWire, SpanRow } from "../../src/client/wire-live.ts";

const HOUR = 3_600_000;
const noon = Date.parse("2026-11-30T12:00:00Z");

const move = (at_ms: number, more: Partial<MoveWire> = {}): MoveWire => ({
  id: `dec_${at_ms}`,
  device: "gpu0",
  at_ms,
  kind: "swap",
  reason: "score",
  forced: false,
  load: "a",
  evict: ["b"],
  sentence: "Swapped b for a.",
  ...more,
});

describe("the chart's layout", () => {
  it("puts ticks on whole local times, as dense as labels allow", () => {
    const scale = scaleOf(noon, noon + 2 * HOUR, 168, 1000);

    const { atMs, stepMs } = ticksOf(scale, -330);

    expect(stepMs).toBe(600_000);
    expect(atMs.every((ms) => (ms + 330 * 60_000) % stepMs === 0)).toBe(true);
    expect(atMs.length).toBeLessThanOrEqual(Math.ceil(1000 / 62) + 1);
  });

  it("never draws behind now, and shows the shortest stretch", () => {
    const scale = scaleOf(0, 1000, 0, 1000);
    const spans: SpanRow[] = [
      ["gpu0", "a", "serving", 100, null, null],
      ["gpu0", "a", "idle", 99.9, 100, null],
      ["gpu0", "a", "loading", 700, null, null],
    ];

    const bars = barsOf(spans, "gpu0", "a", scale, 600);

    expect(bars.map(({ phase, x, width }) => [phase, x, width])).toEqual([
      ["serving", 100, 500],
      ["idle", 99.9, 1],
    ]);
  });

  it("finds the stretch that is pointed at, a pixel or two beside it too", () => {
    const scale = scaleOf(0, 1000, 100, 1000);
    const spans: SpanRow[] = [
      ["gpu0", "a", "serving", 100, 200, null],
      ["gpu0", "a", "serving", 400, null, "dec_1"],
    ];
    const lane = { device: "gpu0", model: "a", phase: "serving" };

    expect(barAt(spans, lane, scale, 100 + 201, 600)?.[3]).toBe(100);
    expect(barAt(spans, lane, scale, 100 + 500, 600)?.[3]).toBe(400);
    expect(barAt(spans, lane, scale, 100 + 300, 600)).toBeNull();
  });

  it("draws decisions that would touch as one mark, and never two that overlap", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 60 }), (instants) => {
        const moves = [...new Set(instants)].map((at) => move(at));
        const marks = marksOf(moves, "gpu0", scaleOf(0, HOUR, 0, 900));

        expect(marks.flatMap((mark) => mark.moves)).toHaveLength(moves.length);
        for (const [index, mark] of marks.entries()) {
          const next = marks[index + 1];
          if (next !== undefined) expect(next.x - mark.x).toBeGreaterThan(18);
        }
      }),
    );
  });

  it("keeps marks in their groups while the picture moves on", () => {
    const moves = [10_000, 30_000, 41_000, 300_000].map((at) => move(at));

    const before = marksOf(moves, "gpu0", scaleOf(0, HOUR, 0, 900)).map(({ id }) => id);
    const after = marksOf(moves, "gpu0", scaleOf(20_000, HOUR + 20_000, 0, 900)).map(({ id }) => id);

    expect(before).toEqual(["dec_10000", "dec_300000"]);
    expect(after).toEqual(["dec_300000"]);
  });

  it("stacks devices with their lanes", () => {
    const rows = lanesOf(
      [
        { id: "gpu0", models: [{ id: "a", label: "a" }] },
        { id: "gpu1", models: [] },
      ],
      { axis: 24, rail: 34, lane: 27, gap: 10 },
    );

    expect(rows.map(({ y, bottom }) => [y, bottom])).toEqual([
      [24, 85],
      [95, 129],
    ]);
  });

  it("cuts names in the middle and never through a letter", () => {
    expect(shortened("mistral-small-de", 20)).toBe("mistral-small-de");
    expect(shortened("openai/gpt-oss-120b-instruct", 12)).toBe("openai…truct");
    expect([...shortened("🦙".repeat(30), 9)]).toHaveLength(9);
  });
});

describe("the stretch that is shown", () => {
  it("moves in steps, so that a second changes nothing", () => {
    const one = windowAt(noon + 100, "2h", null, 1000);
    const two = windowAt(noon + 1100, "2h", null, 1000);

    expect(two).toEqual(one);
    expect(one.toMs).toBeGreaterThan(one.nowMs);
    expect(one.readFromMs).toBeLessThanOrEqual(one.fromMs);
  });

  it("goes back as far as there is something to see", () => {
    expect([0, 4, 10, 50, 100, 1000].map((minutes) => rangeBackTo(noon - minutes * 60_000, noon))).toEqual([
      ...["5m", "5m", "15m", "1h", "2h", "2h"],
    ]);
  });

  it("stays where the reader put it", () => {
    const past = windowAt(noon, "1h", noon - 5 * HOUR, 1000);

    expect([past.fromMs, past.toMs, past.readToMs]).toEqual([noon - 6 * HOUR, noon - 5 * HOUR, noon - 5 * HOUR]);
  });

  it("follows the keys, and comes back to now at the end", () => {
    const window = windowAt(noon, "1h", noon - HOUR, 1000);

    expect(keyOfWindow("+", "1h", window, noon)).toEqual({ range: "15m" });
    expect(keyOfWindow("-", "6h", window, noon)).toEqual({ range: "6h" });
    expect(keyOfWindow("[", "1h", window, noon)).toEqual({ until: String(noon - 1.5 * HOUR) });
    expect(keyOfWindow("]", "1h", { fromMs: noon - 1.2 * HOUR, toMs: noon - 0.2 * HOUR }, noon)).toEqual({
      until: null,
    });
    expect(keyOfWindow("0", "1h", window, noon)).toEqual({ until: null });
    expect(keyOfWindow("x", "1h", window, noon)).toBeNull();
  });
});

describe("the depth of the queue", () => {
  it("holds its last value until now and ends there", () => {
    const columns = depthData([{ atMs: 100, depth: [1, 2, 3] }], 0, 1000, 600);

    expect(columns).toEqual([
      [0, 100, 600, 1000],
      [null, 6, 6, null],
      [null, 3, 3, null],
      [null, 1, 1, null],
    ]);
  });

  it("takes what is counted along a second apart, and nothing from before", () => {
    const one = withPoint([{ atMs: 0, depth: [0, 0, 0] }], { atMs: 5000, depth: [1, 0, 0] });
    const two = withPoint(one, { atMs: 5200, depth: [2, 0, 0] });

    expect(two).toHaveLength(3);
    expect(withPoint(two, { atMs: 5400, depth: [3, 0, 0] }).at(-1)?.depth).toEqual([3, 0, 0]);
    expect(withPoint(two, { atMs: 5400, depth: [3, 0, 0] })).toHaveLength(3);
    expect(withPoint(two, { atMs: 10, depth: [9, 9, 9] })).toBe(two);
  });
});

describe("a wait's bar", () => {
  it("keeps four seconds visible beside forty minutes", () => {
    expect(logShare(4000, 2_400_000)).toBeGreaterThan(0.15);
    expect(logShare(2_400_000, 2_400_000)).toBe(1);
    expect(logShare(0, 2_400_000)).toBe(0);
  });
});
