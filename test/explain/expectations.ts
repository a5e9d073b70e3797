// Places in a queue and what is said of them.

import fc from "fast-check";
import type { Place } from "../../src/engine/control.ts";
import { expectationOf } from "../../src/explain/expectation.ts";
import { CREATED_MS } from "./words.ts";

const NOW_MS = 5_000_000;

export function place(more: Partial<Place>): Place {
  return {
    ...{ position: 0, queued: 1, resident: false, needsSwap: true, loadMs: 60_000, loadBoundMs: null },
    ...{ estimatedMs: null, estimatedRange: null, start: null, blocked: null, loading: null },
    arrived: { interactive: 0, normal: 0, batch: 0 },
    asOfMs: NOW_MS,
    ...more,
  };
}

const range = (lowMs: number, midMs: number, highMs: number) => ({ lowMs, midMs, highMs, observations: 40 });

const PLACES: readonly (readonly [string, Place])[] = [
  ["nothing known", place({})],
  ["place alone", place({ position: 2, queued: 10 })],
  ["all of it", place({ queued: 10, start: range(240_000, 460_000, 700_000), loadBoundMs: 1_060_000 })],
  ["soon", place({ queued: 2, start: range(3_000, 9_000, 12_000), resident: true, loadBoundMs: 0 })],
  ["at once", place({ start: range(0, 200, 900), resident: true, loadBoundMs: 0 })],
  ["one minute", place({ position: 1_233, queued: 12_345, start: range(7_200_000, 7_201_000, 7_202_000) })],
  ["tomorrow", place({ queued: 4, start: range(7_200_000, 14_400_000, 36_000_000), loadBoundMs: 90_000_000 })],
  ["next week", place({ queued: 4, start: range(900_000_000, 910_000_000, 920_000_000) })],
  ["paused", place({ start: range(1, 2, 3), loadBoundMs: 90_000, blocked: { reason: "paused", retryAtMs: null } })],
  ["broken", place({ queued: 3, blocked: { reason: "model_broken", retryAtMs: NOW_MS + 90_000 } })],
  ["its load failed", place({ queued: 3, blocked: { reason: "load_failed", retryAtMs: NOW_MS } })],
  ["engine away", place({ resident: true, blocked: { reason: "engine_unavailable", retryAtMs: NOW_MS + 4_000 } })],
  ["no place", place({ position: null })],
];

export function expectations(): string[] {
  return PLACES.map(([name, each]) => `${name}: ${expectationOf(each, NOW_MS, CREATED_MS).text}`);
}

const ms = fc.oneof(fc.constantFrom(0, 1, 119_999, 1e11), fc.integer({ min: 0, max: 100_000_000 }));

export const anyPlace: fc.Arbitrary<Place> = fc
  .record({
    position: fc.option(fc.nat(2_000), { nil: null }),
    queued: fc.nat(2_000),
    resident: fc.boolean(),
    loadBoundMs: fc.option(ms, { nil: null }),
    start: fc.option(fc.record({ lowMs: ms, midMs: ms, highMs: ms, observations: fc.nat() }), { nil: null }),
    blocked: fc.constantFrom(null, { reason: "paused", retryAtMs: null }),
  })
  .map((each) => place({ ...each, queued: Math.max(each.queued, (each.position ?? -1) + 1) }));
