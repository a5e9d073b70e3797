// What a loaded model is worth keeping: greedy-dual, as web and function caches use it. What waits for it and what is
// likely to come, times what bringing it back would take, over the memory that it holds.

import type { ModelView } from "./snapshot.ts";
import { DEFAULT_WEIGHING, demandOf, weightOf } from "./weigh.ts";

/** What waits counts ten times. */
const QUEUED = 10;
/** Against what is expected to come within so long. */
const EXPECTED_SECONDS = 600;
/** 0 for a model that nobody waits for or is likely to ask for; a second copy is worth its part of the first. */
export function keepValue(view: ModelView, nowMs: number): number {
  const claim =
    QUEUED * weightOf(view, nowMs, DEFAULT_WEIGHING) + EXPECTED_SECONDS * demandOf(view, nowMs, DEFAULT_WEIGHING);
  return (claim * Math.max(1, view.loadMs)) / 1_000 / (view.memoryGiB ?? 1) / (view.copies ?? 1);
}
