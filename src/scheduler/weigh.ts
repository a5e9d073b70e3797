// What waits, what is likely to come, and how long it takes, weighed: in seconds, from sums per band, with no look at a job.

import { BAND_WEIGHT, BANDS, type Band } from "../domain/band.ts";
import type { ModelView } from "./snapshot.ts";

/** Where neither a measurement nor the driver says how long a job runs alone. */
const ALONE_GUESS_SECONDS = 5;

type Serving = Pick<ModelView, "service" | "slots">;

export interface Weighing {
  /** What a waiting second of a job is worth. */
  readonly weight: Readonly<Record<Band, number>>;
  /** After waiting so long a job counts twice. */
  readonly doublesSeconds: Readonly<Record<Band, number>>;
  /** After which an arrival counts half. */
  readonly rateHalfLifeSeconds: number;
}

export const DEFAULT_WEIGHING: Weighing = {
  weight: BAND_WEIGHT,
  doublesSeconds: { interactive: 120, normal: 1_200, batch: 14_400 },
  rateHalfLifeSeconds: 600,
};

export const seconds = (ms: number): number => ms / 1_000;

export function aloneSeconds({ service }: Pick<ModelView, "service">): number {
  return service.aloneMs === null ? ALONE_GUESS_SECONDS : seconds(service.aloneMs);
}

/** How much longer each of n jobs takes when they share the engine. */
export function slowness({ service, slots }: Serving, n: number): number {
  return 1 + service.slowdownPerJob * (Math.min(n, slots) - 1);
}

/** T(n): to work off n jobs. */
export function drainSeconds(view: Serving, n: number): number {
  return n <= 0 ? 0 : aloneSeconds(view) * slowness(view, n) * Math.max(1, n / view.slots);
}

/** Seconds that the band's jobs have waited, together. */
export function waitedSeconds(view: ModelView, band: Band, nowMs: number): number {
  const { depth, acceptedAtMsSum } = view.bands[band];
  return seconds(Math.max(0, depth * nowMs - acceptedAtMsSum));
}

/** w: what the band's jobs weigh; a job weighs twice as much after `doublesSeconds`. */
export function bandWeight(view: ModelView, band: Band, nowMs: number, of: Weighing): number {
  const { depth } = view.bands[band];
  return depth === 0 ? 0 : of.weight[band] * (depth + waitedSeconds(view, band, nowMs) / of.doublesSeconds[band]);
}

/** W. */
export function weightOf(view: ModelView, nowMs: number, of: Weighing): number {
  return BANDS.reduce((sum, band) => sum + bandWeight(view, band, nowMs, of), 0);
}

/**
 * Weighted arrivals per second: the decayed rate, but never more than two in the time since the last arrival, so that a
 * burst that is over is not waited for. Falls with time.
 */
export function demandOf(view: ModelView, nowMs: number, of: Weighing): number {
  if (view.lastArrivalAtMs === null) return 0;
  const quiet = Math.max(1, seconds(nowMs - view.lastArrivalAtMs));
  const perSecond = Math.LN2 / of.rateHalfLifeSeconds;
  return BANDS.reduce((sum, band) => {
    const { value, atMs } = view.bands[band].arrivals;
    if (value === 0) return sum;
    const rate = value * Math.exp(-seconds(Math.max(0, nowMs - atMs)) * perSecond) * perSecond;
    return sum + of.weight[band] * Math.min(rate, 2 / quiet);
  }, 0);
}
