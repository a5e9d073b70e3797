// What a loaded model is worth keeping: greedy-dual, as web and function caches use it. What waits for it and what is
// likely to come, times what bringing it back would take, over the memory that it holds.

import { BANDS, type Band } from "../domain/band.ts";
import type { ModelView } from "./snapshot.ts";

/** What a waiting second of a job is worth. */
const WEIGHT: Readonly<Record<Band, number>> = { interactive: 10, normal: 1, batch: 0.1 };
/** After waiting so long a job counts twice. */
const DOUBLES_MS: Readonly<Record<Band, number>> = { interactive: 120_000, normal: 1_200_000, batch: 14_400_000 };
/** A job that waits counts as much as ten that are expected to come within a minute. */
const QUEUED = 10;

/** In weighted job-seconds of loading for each GiB; 0 for a model that nobody waits for or is likely to ask for. */
export function keepValue(view: ModelView, nowMs: number): number {
  return (QUEUED * queuedWeight(view, nowMs) * Math.max(1, view.loadMs)) / 1_000 / (view.memoryGiB ?? 1);
}

/** A queue's weight: each job's, growing with its wait. */
function queuedWeight({ bands }: ModelView, nowMs: number): number {
  return BANDS.reduce((sum, band) => {
    const { depth, acceptedAtMsSum } = bands[band];
    const waitedMs = Math.max(0, depth * nowMs - acceptedAtMsSum);
    return sum + WEIGHT[band] * (depth + waitedMs / DOUBLES_MS[band]);
  }, 0);
}
