// The race of scores while a job waited, as columns for a chart: from the decisions that passed it over. Pure.

import type { ExplainingDecisionWire } from "../../../src/client/wire-explain.ts";

export interface RaceData {
  /** Unix ms, ascending. */
  readonly atMs: readonly number[];
  readonly own: readonly (number | null)[];
  readonly winner: readonly (number | null)[];
  /** Who was ahead, in order of appearance; at most three are named. */
  readonly rivals: readonly string[];
}

const LEAST_POINTS = 2;
/** A shorter race is told by the table. */
const LEAST_MS = 5_000;

/**
 * The race is run against others: it ends with the decision that the job's own model wins.
 *
 * @param model The job's own.
 * @param fromMs When the job came; what was compared before it is drawn from there on.
 * @returns null: no rule compared scores, or there are too few to draw.
 */
export function raceOf(decisions: readonly ExplainingDecisionWire[], model: string, fromMs: number): RaceData | null {
  const wonAt = decisions.findIndex(({ winner }) => winner?.model === model);
  const lost = wonAt === -1 ? decisions : decisions.slice(0, wonAt);
  const won =
    wonAt === -1
      ? []
      : decisions.slice(wonAt, wonAt + 1).map(({ at_ms, own }): Point => [at_ms, own?.score ?? null, null]);
  const points = [...lost.flatMap(pointsOf), ...won]
    .sort((a, b) => a[0] - b[0])
    .map(([at, own, winner]): Point => [Math.max(fromMs, at), own, winner]);
  const drawn = points.filter(([, own, winner]) => own !== null && winner !== null);
  const lastedMs = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
  if (drawn.length < LEAST_POINTS || lastedMs < LEAST_MS) return null;
  // A chart wants each instant once; the later look holds.
  const byInstant = [...new Map(points.map((point) => [point[0], point])).values()];
  const rivals = lost.flatMap(({ winner, own }) => (winner === null || own === null ? [] : [winner.model]));
  return {
    atMs: byInstant.map(([at]) => at),
    own: byInstant.map(([, own]) => own),
    winner: byInstant.map(([, , winner]) => winner),
    rivals: [...new Set(rivals)],
  };
}

type Point = readonly [atMs: number, own: number | null, winner: number | null];

function pointsOf({ at_ms, trail, own, winner }: ExplainingDecisionWire): readonly Point[] {
  const look: Point = [at_ms, own?.score ?? null, winner?.score ?? null];
  return trail.length === 0 ? [look] : [look, ...trail];
}
