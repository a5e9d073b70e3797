// The hard rules above the scores. Each answers one question about a scene; decide.ts asks them in order.
//
// An instant and the test for it are one expression (`now >= since + duration`, never `now - since >= duration`), so that
// a timer set for the instant finds the test true, whatever a double rounds to.

import { isBusy } from "./policies/ties.ts";
import type { Candidate } from "./policy.ts";
import { longestUnvisited, type Scene } from "./scene.ts";

/** The model that the ceiling puts next, or null. A broken model's trial load is never forced. */
export function overdue({ guards, waiting, nowMs }: Scene): Candidate | null {
  const { maxWaitMs } = guards;
  if (maxWaitMs === null) return null;
  return longestUnvisited(
    waiting.filter((each) => {
      const ceilingAtMs = ceilingAt(each, maxWaitMs);
      return ceilingAtMs !== null && nowMs >= ceilingAtMs;
    }),
  );
}

/** When the ceiling reaches the model; null: never. */
export function ceilingAt(each: Candidate, maxWaitMs: number | null): number | null {
  if (maxWaitMs === null || each.oldest === null || each.broken) return null;
  return each.oldest.acceptedAtMs + maxWaitMs;
}

/** A model that was loaded and has work starts at least one job before it may be swapped out. */
export function servesFirst({ guards, resident, residency }: Scene): boolean {
  if (guards.serveBeforeSwap === false || resident === null || residency === null) return false;
  return resident.eligible && resident.depth > 0 && residency.dispatched === 0;
}

/**
 * After a forced swap the next forced one waits until the model it brought in has no queued work, or has had its minimum
 * residency. Without a minimum residency that is no time at all, and having started a job is enough.
 */
export function forcedSwapSpent(scene: Scene): boolean {
  const { guards, resident, residency, nowMs } = scene;
  if (guards.serveBeforeSwap !== "residency" || resident === null || residency === null) return false;
  return residency.forced && resident.eligible && resident.depth > 0 && nowMs < residencyEndsAt(scene);
}

/** The resident is too freshly loaded to be swapped for `target`, by score: it has work, or has not idled long enough. */
export function withinResidency(scene: Scene, target: Candidate): boolean {
  const { resident, nowMs } = scene;
  if (resident === null || nowMs >= residencyEndsAt(scene)) return false;
  const lapseAtMs = lapseAt(scene, target);
  return isBusy(resident) || lapseAtMs === null || nowMs < lapseAtMs;
}

/** `-Infinity` when there is no minimum. */
export function residencyEndsAt({ guards, residency }: Scene): number {
  if (guards.minResidencyMs === null || residency === null) return Number.NEGATIVE_INFINITY;
  return residency.sinceMs + guards.minResidencyMs;
}

/** When the resident will have idled for what loading `target` is worth; null while it has work. */
export function lapseAt({ guards, idleSinceMs }: Scene, target: Candidate): number | null {
  return idleSinceMs === null ? null : idleSinceMs + guards.switchCostWeight * target.loadMs;
}
