// The founding table, to the digit: switch times, scores and waits, from the scheduler alone.

import { expect, test } from "vitest";
import { bindPolicy } from "../../src/scheduler/policies/registry.ts";
import { FOUNDING } from "../../src/scheduler/presets.ts";
import { fixed, percentile } from "../../src/simulator/rounding.ts";
import { type Run, type RunJob, type RunModel, run, waitsOf } from "./one-device.ts";

const CHAT: RunModel = { name: "chat", loadMs: 8_000, runMs: 1_800, priority: 1 };
const TRANSLATE: RunModel = { name: "translate", loadMs: 6_000, runMs: 200 + 64_000 / 60, priority: 1.5 };
const EMBED: RunModel = { name: "embed", loadMs: 3_000, runMs: 200 + 64_000 / 200, priority: 0.5 };
const every = (model: string, gapMs: number, count: number, fromMs = 0): RunJob[] =>
  Array.from({ length: count }, (_, i) => ({ model, atMs: fromMs + i * gapMs }));
const inTurns = Array.from(
  { length: 20 },
  (_, i): RunJob => ({ model: i % 2 === 0 ? "chat" : "translate", atMs: i * 3_000 }),
);

const founding = (minResidencySeconds = 30) => bindPolicy("model-score", { ...FOUNDING, minResidencySeconds });
const seconds = (ms: number): number => Number((ms / 1000).toFixed(4));
const told = (moves: ReturnType<typeof run>["moves"]) =>
  moves.map(({ atMs, to, reason, scores }) => [
    seconds(atMs),
    to,
    reason,
    ...scores.map((s) => (s === null ? null : Number(s.toFixed(4)))),
  ]);

const shown = (run: Run, name: string, percent: number): string =>
  fixed(percentile(waitsOf(run, name), percent, "half-even") / 1000, "half-even");

test("without a minimum residency the essay's twenty requests take seven swaps", () => {
  const result = run(founding(0), [CHAT, TRANSLATE], inTurns, { untilMs: 300_000, tickMs: 250 });

  expect(told(result.moves)).toEqual([
    [0, "chat", "cold", -7.5, null],
    [8.25, "translate", "challenger_wins", 2.625, 0],
    [19.25, "chat", "challenger_wins", 0.25, 0],
    [28, "translate", "challenger_wins", 6, 0],
    [37.05, "chat", "challenger_wins", 0.05, 0],
    [46.0667, "translate", "challenger_wins", 6.1, 0],
    [55.1167, "chat", "challenger_wins", 0.1167, 0],
    [64.1333, "translate", "challenger_wins", 5.45, 0],
  ]);
  expect(waitsOf(result, "chat").map(seconds)).toEqual([
    2, 3.75, 3.8167, 8, 9.75, 9.8167, 9.8833, 15.75, 15.8167, 15.8833,
  ]);
  expect(waitsOf(result, "translate").map(seconds)).toEqual([
    1.3, 3.05, 3.1167, 7.3, 9.05, 9.1167, 13.3, 15.05, 15.1167, 15.1833,
  ]);
  expect([result.swaps, result.loads, result.loadingMs]).toEqual([7, 8, 56_000]);
});

test("with the shipped minimum residency the same requests take two swaps", () => {
  const result = run(founding(), [CHAT, TRANSLATE], inTurns, { untilMs: 300_000, tickMs: 250 });

  expect(told(result.moves)).toEqual([
    [0, "chat", "cold", -7.5, null],
    [38, "translate", "challenger_wins", 51, 0],
    [66.5, "chat", "resident_idle", 18, 0],
  ]);
  expect(result.moves.map(({ readyAtMs }) => seconds(readyAtMs))).toEqual([8, 44.5, 75]);
  expect(waitsOf(result, "chat").map(seconds)).toEqual([0, 0, 0, 0, 0, 2, 8, 21, 27, 33]);
  expect(waitsOf(result, "translate").map(seconds)).toEqual([0, 0, 0, 5.5, 11.5, 17.5, 23.5, 29.5, 35.5, 41.5]);
  expect([result.swaps, result.loads, result.loadingMs]).toEqual([2, 3, 22_000]);
});

test.each([
  {
    name: "chat every 2 s and a rare translate",
    models: [CHAT, TRANSLATE],
    arrivals: [...every("chat", 2_000, 150), ...every("translate", 45_000, 7, 10_000)],
    waits: [
      ["chat", "0.0", "24.5"],
      ["translate", "32.5", "45.3"],
    ],
    counts: [11, 12, 84_000],
  },
  {
    name: "four bursts of twelve that take turns",
    models: [CHAT, TRANSLATE],
    arrivals: [0, 1, 2, 3].flatMap((i) => every(i % 2 === 0 ? "chat" : "translate", 500, 12, i * 60_000)),
    waits: [
      ["chat", "9.0", "12.5"],
      ["translate", "6.0", "8.5"],
    ],
    counts: [3, 4, 28_000],
  },
  {
    name: "three models",
    models: [CHAT, TRANSLATE, EMBED],
    arrivals: [
      ...every("chat", 2_000, 150),
      ...every("translate", 15_000, 20, 5_000),
      ...every("embed", 30_000, 10, 12_000),
    ],
    waits: [
      ["chat", "3.8", "33.2"],
      ["translate", "26.3", "56.3"],
      ["embed", "22.5", "52.5"],
    ],
    counts: [15, 16, 93_000],
  },
])("the founding rule gives the shipped figures for $name", ({ models, arrivals, waits, counts }) => {
  const result = run(founding(), models, arrivals, { untilMs: 400_000, tickMs: 250 });

  const figures = waits.map(([name = ""]) => [name, shown(result, name, 50), shown(result, name, 99)]);
  expect(figures).toEqual(waits);
  expect([result.swaps, result.loads, result.loadingMs]).toEqual(counts);
});
