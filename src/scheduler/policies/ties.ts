// Comparisons that policies and guards agree on. Each ends in the configuration's order, so that a verdict never depends
// on the order in which models stand in a snapshot.

import type { Scored } from "../../domain/decision.ts";
import type { Candidate } from "../policy.ts";
import type { ModelView } from "../snapshot.ts";

/** The first by `compare`, then by the configuration's order; null when there is none. */
export function firstBy<T extends ModelView>(models: Iterable<T>, compare: (a: T, b: T) => number): T | null {
  let first: T | null = null;
  for (const each of models) {
    if (first === null || (compare(each, first) || each.order - first.order) < 0) first = each;
  }
  return first;
}

/** Ascending by when the oldest job was accepted; models without jobs come last. */
export function byOldest(a: ModelView, b: ModelView): number {
  const left = a.oldest?.acceptedAtMs ?? Number.POSITIVE_INFINITY;
  const right = b.oldest?.acceptedAtMs ?? Number.POSITIVE_INFINITY;
  return left === right ? 0 : left - right;
}

/** Those with demand that may be chosen now. */
export function contenders<T extends Candidate>(candidates: readonly T[]): T[] {
  return candidates.filter((each) => each.depth > 0 && each.eligible);
}

/** Has something queued or in flight. */
export function isBusy(view: ModelView): boolean {
  return view.depth > 0 || view.inFlight > 0;
}

/** One row of a decision; `terms` null: it scores nothing. The score is the sum of the terms less the switch cost. */
export function row(each: Candidate, terms: Readonly<Record<string, number>> | null, switchCost = 0): Scored {
  const sum = (all: Readonly<Record<string, number>>): number => Object.values(all).reduce((a, b) => a + b, 0);
  return {
    model: each.model,
    depth: each.depth,
    oldestWaitMs: each.oldestWaitMs,
    priority: each.priority,
    terms: terms ?? {},
    switchCost,
    score: terms === null ? null : sum(terms) - switchCost,
    eligible: each.eligible,
    whyNot: each.barrier?.words ?? null,
  };
}
