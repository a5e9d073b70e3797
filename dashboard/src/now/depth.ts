// The depth of the queue as columns for a stacked chart. Pure.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";

/** Interactive, normal, batch. */
export type Depth = readonly [interactive: number, normal: number, batch: number];

export interface Point {
  readonly atMs: number;
  readonly depth: Depth;
}

/** Points that are counted along come no closer than this. */
const APART_MS = 1000;
const MOST_POINTS = 2000;

export function depthOf(models: readonly Pick<ModelStatusWire, "queued">[]): Depth {
  const sum = (band: "interactive" | "normal" | "batch"): number =>
    models.reduce((total, { queued }) => total + queued[band], 0);
  return [sum("interactive"), sum("normal"), sum("batch")];
}

/** A point that comes soon after the last one takes its place, so that many changes are few points. */
export function withPoint(points: readonly Point[], point: Point): readonly Point[] {
  const last = points.at(-1);
  if (last === undefined) return [point];
  if (point.atMs < last.atMs) return points;
  if (points.length > 1 && point.atMs - (points.at(-2)?.atMs ?? 0) < APART_MS) return [...points.slice(0, -1), point];
  return [...points.slice(-MOST_POINTS), point];
}

/**
 * Columns from edge to edge: instants, everything, all but batch, interactive alone; drawn over one another they are a
 * stack. The last value holds until now; behind now there is nothing.
 */
export function depthData(points: readonly Point[], fromMs: number, toMs: number, nowMs: number): (number | null)[][] {
  const before = points.findLast(({ atMs }) => atMs < fromMs);
  const inside = points.filter(({ atMs }) => atMs >= fromMs && atMs <= nowMs && atMs <= toMs);
  const shown = before === undefined ? inside : [{ ...before, atMs: fromMs }, ...inside];
  const last = shown.at(-1);
  const held =
    last === undefined || last.atMs >= Math.min(nowMs, toMs) ? [] : [{ ...last, atMs: Math.min(nowMs, toMs) }];
  const all = [...shown, ...held];
  const column = (of: (depth: Depth) => number): (number | null)[] => [
    null,
    ...all.map(({ depth }) => of(depth)),
    null,
  ];
  return [
    [fromMs, ...all.map(({ atMs }) => atMs), toMs],
    column(([interactive, normal, batch]) => interactive + normal + batch),
    column(([interactive, normal]) => interactive + normal),
    column(([interactive]) => interactive),
  ];
}
