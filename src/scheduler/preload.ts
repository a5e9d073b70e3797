// Loading ahead of need: on an idle device, when a model is expected and having it there is worth more than what the load
// costs. It never displaces waiting work, spends from a budget, and shows its arithmetic.
//
//   gain  = p x burst x load                                 what its jobs would otherwise wait
//   price = price x load                                     the device's time
//   risk  = sum over what it evicts of p' x burst' x (load' + load/2)    what those jobs would wait if they came instead
//   load when  gain > 1.2 x (price + (1 - p) x risk)

import type { PreloadTerms } from "../domain/decision.ts";
import { budgetAt, type Expectation, openAt, type PreloadBudget } from "./forecast.ts";
import { isBusy } from "./policies/ties.ts";
import type { Candidate } from "./policy.ts";
import type { Scene } from "./scene.ts";
import { type Decided, move } from "./verdict.ts";

/** How much larger than its cost a gain must be. */
export const PRELOAD_MARGIN = 1.2;

/** Asked when nothing waits. Null: nothing is expected, or it does not pay. */
export function preloadMove(scene: Scene): Decided | null {
  const budget = scene.snapshot.device.preloading ?? null;
  if (budget === null || scene.strangers.length > 0) return null;
  let best: { readonly target: Candidate; readonly terms: PreloadTerms } | null = null;
  for (const target of scene.candidates) {
    const terms = termsOf(scene, target, budget);
    if (terms === null) continue;
    const lead = best === null ? 1 : surplus(terms) - surplus(best.terms) || best.target.order - target.order;
    if (lead > 0) best = { target, terms };
  }
  return best === null ? null : { ...move(scene, best.target, "preload", null), preload: best.terms };
}

/** When time alone can change what `preloadMove` says. */
export function preloadLooks(scene: Scene): readonly number[] {
  const budget = scene.snapshot.device.preloading ?? null;
  if (budget === null) return [];
  const looks = scene.candidates.flatMap((each) => [
    ...(each.forecast?.expected ?? []).flatMap(({ fromMs, actsFromMs, untilMs }) => [fromMs, actsFromMs, untilMs]),
    ...(openAt(each.forecast, scene.nowMs) === null ? [] : [affordableAt(each, budget)]),
  ]);
  return looks.filter(Number.isFinite);
}

/** When the idle model may go, given that it is expected to be needed: not while that is open. */
export function heldForAt({ forecast }: Candidate, unloadAtMs: number): number {
  return openAt(forecast, unloadAtMs, "acting")?.untilMs ?? unloadAtMs;
}

/** Only what stands idle and is not pinned may make room. */
function mayEvict({ victims }: Candidate): boolean {
  return victims.every((each) => !each.pinned && !isBusy(each));
}

function termsOf(scene: Scene, target: Candidate, budget: PreloadBudget): PreloadTerms | null {
  const { nowMs } = scene;
  if (target.resident || target.foreign === true || !target.eligible || target.broken || !mayEvict(target)) return null;
  const open = openAt(target.forecast, nowMs, "acting");
  if (open === null) return null;
  const leftMs = budgetAt(budget, nowMs);
  if (target.loadMs > leftMs) return null;
  const terms = arithmetic(scene, target, open, budget.price);
  return surplus(terms) > 0 ? { ...terms, leftMs: leftMs - target.loadMs } : null;
}

function arithmetic(scene: Scene, target: Candidate, open: Expectation, priceRate: number): PreloadTerms {
  const loadS = target.loadMs / 1_000;
  const burst = target.forecast?.burst ?? 0;
  const { probability, source, hint } = open;
  return {
    model: target.model,
    source,
    hint,
    dueAtMs: open.dueAtMs,
    dueInMs: open.dueAtMs - scene.nowMs,
    probability,
    burst,
    loadMs: target.loadMs,
    gain: probability * burst * loadS,
    price: priceRate * loadS,
    risk: target.victims.reduce((sum, each) => sum + (1 - probability) * regret(each, target, scene.nowMs), 0),
    margin: PRELOAD_MARGIN,
    leftMs: 0,
  };
}

/** What the evicted model's own jobs would wait if they came first: its load, behind half of this one. */
function regret(victim: Candidate, target: Candidate, nowMs: number): number {
  const open = openAt(victim.forecast, nowMs);
  if (open === null) return 0;
  return open.probability * (victim.forecast?.burst ?? 0) * ((victim.loadMs + target.loadMs / 2) / 1_000);
}

function surplus({ gain, price, risk, margin }: PreloadTerms): number {
  return gain - margin * (price + risk);
}

/** In whole ms, so that a timer set for it finds the budget large enough. */
function affordableAt(each: Candidate, budget: PreloadBudget): number {
  if (each.loadMs > budget.mostMs || budget.share <= 0) return Number.POSITIVE_INFINITY;
  return Math.ceil(budget.atMs + (each.loadMs - budget.leftMs) / budget.share) + 1;
}
