// The hard rules above the scores. Each answers one question about a scene; decide.ts asks them in order.
//
// An instant and the test for it are one expression (`now >= since + duration`, never `now - since >= duration`), so that
// a timer set for the instant finds the test true, whatever a double rounds to.

import type { DecisionReason, Guard } from "../domain/decision.ts";
import { isBusy } from "./policies/ties.ts";
import type { Candidate, Tenant } from "./policy.ts";
import { byUnvisited, type Scene } from "./scene.ts";

/** Why a model stays where it is: a hard rule (`guard`), or the policy's wish. */
export interface Bar {
  readonly reason: DecisionReason;
  readonly guard: Guard | null;
}

/** Those that the ceiling puts next, in order. A broken model's trial load is never forced. */
export function overdue({ guards, waiting, nowMs }: Scene): Candidate[] {
  const due = waiting.filter((each) => {
    const ceilingAtMs = ceilingAt(each, guards.maxWaitMs);
    return ceilingAtMs !== null && nowMs >= ceilingAtMs;
  });
  return due.sort((a, b) => byUnvisited(a, b) || a.order - b.order);
}

/** When the ceiling reaches the model; null: never. */
export function ceilingAt(each: Candidate, maxWaitMs: number | null): number | null {
  if (maxWaitMs === null || each.oldest === null || each.broken) return null;
  return each.oldest.acceptedAtMs + maxWaitMs;
}

/** What keeps a victim of `target` from going by the policy's wish. */
export function barToChoice(scene: Scene, target: Candidate): Bar | null {
  if (target.victims.some(({ pinned }) => pinned)) return { reason: "pinned", guard: "pinned" };
  if (target.victims.some((each) => servesFirst(scene, each))) return { reason: "serve_first", guard: "serve_first" };
  if (target.victims.some((each) => withinResidency(scene, each, target)))
    return { reason: "min_residency", guard: "min_residency" };
  return null;
}

/** What keeps a victim of `target` from going although `target` is past the ceiling. */
export function barToCeiling(scene: Scene, target: Candidate): Bar | null {
  if (target.victims.some(({ pinned }) => pinned)) return { reason: "pinned", guard: "pinned" };
  if (target.victims.some((each) => servesFirst(scene, each))) return { reason: "serve_first", guard: "serve_first" };
  if (target.victims.some((each) => forcedSwapSpent(scene, each)))
    return { reason: "forced_swap_spent", guard: "forced_swap_spent" };
  return null;
}

/** A model that was loaded and has work starts at least one job before it may be swapped out. */
function servesFirst({ guards }: Scene, victim: Tenant): boolean {
  return guards.serveBeforeSwap !== false && victim.eligible && victim.depth > 0 && victim.dispatched === 0;
}

/**
 * After a forced swap the next forced one waits until the model it brought in has no queued work, or has had its minimum
 * residency. Without a minimum residency that is no time at all, and having started a job is enough.
 */
function forcedSwapSpent(scene: Scene, victim: Tenant): boolean {
  if (scene.guards.serveBeforeSwap !== "residency") return false;
  return victim.forced && victim.eligible && victim.depth > 0 && scene.nowMs < residencyEndsAt(scene, victim);
}

/** A victim is too freshly loaded to go for `target`, by score: it has work, or has not idled long enough. */
function withinResidency(scene: Scene, victim: Tenant, target: Candidate): boolean {
  if (scene.nowMs >= residencyEndsAt(scene, victim)) return false;
  const lapseAtMs = lapseAt(scene, victim, target);
  return isBusy(victim) || lapseAtMs === null || scene.nowMs < lapseAtMs;
}

/** `-Infinity` when there is no minimum. */
export function residencyEndsAt({ guards }: Scene, { sinceMs }: Tenant): number {
  return guards.minResidencyMs === null ? Number.NEGATIVE_INFINITY : sinceMs + guards.minResidencyMs;
}

/** When a loaded model will have idled for what loading `target` is worth; null while it has work. */
export function lapseAt({ guards }: Scene, { idleSinceMs }: Tenant, target: Candidate): number | null {
  return idleSinceMs === null ? null : idleSinceMs + guards.switchCostWeight * target.loadMs;
}
