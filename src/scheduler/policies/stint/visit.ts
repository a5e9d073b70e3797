// Rules 0 and 1: a load serves something, and no model that waits is left unvisited for longer than its limit.

import type { VisitFacts } from "../../policy.ts";
import { seconds } from "../../weigh.ts";
import { best, type Challenger, type Contest, type Ruled, type Ruling } from "./contest.ts";
import { bestBand, switchSeconds } from "./queue.ts";
import type { Settings } from "./settings.ts";

/** 0. A loaded model with work has started at least one job before it goes. */
export function servesFirst(contest: Contest): Ruling | null {
  if (!contest.victims.some(({ depth, dispatched }) => depth > 0 && dispatched === 0)) return null;
  return { kind: "stay", reason: "serve_first", about: contest.densest, numbers: {} };
}

/**
 * 1. A model is overdue when it has waited unvisited for the limit of its most urgent band, or for as long as loading
 * everything that wants the place takes at `swapShare` of the time, whichever is more. The most overdue one comes in, once
 * the victims have nothing queued or have had their turn.
 */
export function visit(contest: Contest, of: Settings): Ruled {
  const { nowMs, eventAtMs, challengers, victims, queued } = contest;
  const loads = [...challengers.map(({ each }) => each), ...victims];
  const floor = loads.length > 1 ? loads.reduce((sum, each) => sum + switchSeconds(each), 0) / of.swapShare : 0;
  const limitMs = ({ each }: Challenger): number => Math.max(of.visitSeconds[bestBand(each)], floor) * 1_000;
  const dueAtMs = (challenger: Challenger): number =>
    (challenger.each.unvisitedSinceMs ?? eventAtMs) + limitMs(challenger);
  const overdue = challengers.filter((each) => nowMs >= dueAtMs(each));
  const target = best(overdue, (a, b) => dueAtMs(a) - dueAtMs(b));
  if (target === null) return { ruling: null, looksMs: challengers.map(dueAtMs) };
  const turnEndsAtMs = victims.reduce((latest, each) => Math.max(latest, each.sinceMs + turnMs(each, of)), 0);
  if (queued > 0 && nowMs < turnEndsAtMs) {
    const numbers = { again_seconds: seconds(turnEndsAtMs - nowMs) };
    return { ruling: { kind: "stay", reason: "quantum", about: target, numbers }, looksMs: [turnEndsAtMs] };
  }
  const numbers = {
    waited_seconds: seconds(nowMs - (target.each.unvisitedSinceMs ?? eventAtMs)),
    limit_seconds: seconds(limitMs(target)),
  };
  return { ruling: { kind: "move", target, reason: "visit", numbers, spend: null }, looksMs: [] };
}

/** Until it is due, then the turns and visits of those that were due before: no more than as long again, and the drains. */
export function visitBoundMs({ band, switchMs, drainMs }: VisitFacts, of: Settings): number {
  const floorMs = switchMs.reduce((sum, ms) => sum + ms, 0) / of.swapShare;
  return 2 * Math.max(of.visitSeconds[band] * 1_000, floorMs) + (switchMs.length + 1) * drainMs;
}

/** Q: what makes its load `swapShare` of its stay, at most the limit of normal jobs. */
function turnMs(victim: Contest["victims"][number], { swapShare, visitSeconds }: Settings): number {
  return Math.min((switchSeconds(victim) * (1 - swapShare)) / swapShare, visitSeconds.normal) * 1_000;
}
