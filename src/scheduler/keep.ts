// What a loaded model is worth keeping: greedy-dual, as web and function caches use it. What waits for it and what is
// likely to come, times what bringing it back would take, over the memory that it holds.

import { BANDS, type Band } from "../domain/band.ts";
import type { ModelView } from "./snapshot.ts";

/** What a waiting second of a job is worth. */
const WEIGHT: Readonly<Record<Band, number>> = { interactive: 10, normal: 1, batch: 0.1 };
/** After waiting so long a job counts twice. */
const DOUBLES_MS: Readonly<Record<Band, number>> = { interactive: 120_000, normal: 1_200_000, batch: 14_400_000 };
/** What waits counts ten times. */
const QUEUED = 10;
/** Against what is expected to come within so long. */
const EXPECTED_SECONDS = 600;
/** After which an arrival counts half. */
const RATE_HALF_LIFE_SECONDS = 600;

/** 0 for a model that nobody waits for or is likely to ask for; a second copy is worth its part of the first. */
export function keepValue(view: ModelView, nowMs: number): number {
  const claim = QUEUED * queuedWeight(view, nowMs) + EXPECTED_SECONDS * demand(view, nowMs);
  return (claim * Math.max(1, view.loadMs)) / 1_000 / (view.memoryGiB ?? 1) / (view.copies ?? 1);
}

/** A queue's weight: each job's, growing with its wait. */
function queuedWeight({ bands }: ModelView, nowMs: number): number {
  return BANDS.reduce((sum, band) => {
    const { depth, acceptedAtMsSum } = bands[band];
    const waitedMs = Math.max(0, depth * nowMs - acceptedAtMsSum);
    return sum + WEIGHT[band] * (depth + waitedMs / DOUBLES_MS[band]);
  }, 0);
}

/** Weighted arrivals per second: the decayed rate, but never more than two in the time since the last arrival. */
function demand({ bands, lastArrivalAtMs }: ModelView, nowMs: number): number {
  if (lastArrivalAtMs === null) return 0;
  const quietSeconds = Math.max(1, (nowMs - lastArrivalAtMs) / 1_000);
  const perSecond = Math.LN2 / RATE_HALF_LIFE_SECONDS;
  return BANDS.reduce((sum, band) => {
    const { value, atMs } = bands[band].arrivals;
    const rate = value * Math.exp((-Math.max(0, nowMs - atMs) / 1_000) * perSecond) * perSecond;
    return sum + WEIGHT[band] * Math.min(rate, 2 / quietSeconds);
  }, 0);
}
