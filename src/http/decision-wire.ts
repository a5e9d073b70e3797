// A decision as the wire spells it: seconds, snake_case, wall clock; every addend of every score.

import type { DecisionWire, PreloadWire, ScoredWire } from "../client/wire.ts";
import type { Decision, Scored } from "../domain/decision.ts";
import { mayObserve } from "./caller.ts";
import type { Call } from "./deps.ts";
import { seconds } from "./receipt.ts";

/** What a caller may see of it: without `observe` no ids of jobs and hints, which may be other callers', and no names. */
export function decisionFor(c: Call, decision: Decision): DecisionWire {
  const wire = decisionWire(decision);
  return mayObserve(c) ? wire : withoutOthers(wire);
}

export function withoutOthers(wire: DecisionWire): DecisionWire {
  return { ...wire, jobs: [], asked_by: null, preload: wire.preload === null ? null : { ...wire.preload, hint: null } };
}

export function decisionWire(decision: Decision): DecisionWire {
  const { atMs, wallMs, nextLookAtMs, looks } = decision;
  const wall = (ms: number): number => seconds(wallMs + ms - atMs);
  return {
    id: decision.id,
    object: "decision",
    at: seconds(wallMs),
    kind: decision.kind,
    reason: decision.reason,
    guard: decision.guard,
    policy: decision.policy,
    device: decision.device,
    load: decision.load,
    evict: decision.evict,
    resident: decision.resident.map(({ model, forMs, idleMs }) => ({
      model,
      for_seconds: seconds(forMs),
      idle_seconds: seconds(idleMs),
    })),
    models: decision.models.map(scoredWire),
    jobs: decision.jobs,
    preload: preloadWire(decision),
    about: decision.about ?? null,
    numbers: decision.numbers ?? {},
    budget: budgetWire(decision),
    next_look_at: nextLookAtMs === null ? null : wall(nextLookAtMs),
    sentence: decision.sentence,
    asked_by: decision.askedBy ?? null,
    times: looks?.times ?? 1,
    last_at: wall(looks?.lastAtMs ?? atMs),
    trail: (looks?.trail ?? []).map((sample) => ({ at: wall(sample.atMs), scores: sample.scores })),
  };
}

function budgetWire({ spend }: Decision): DecisionWire["budget"] {
  if (spend === undefined || spend === null) return null;
  return { before_seconds: seconds(spend.beforeMs), after_seconds: seconds(spend.afterMs) };
}

function preloadWire({ preload, atMs, wallMs }: Decision): PreloadWire | null {
  if (preload === undefined) return null;
  const { source, hint, dueAtMs, probability, burst, loadMs, gain, price, risk, margin, leftMs } = preload;
  const due_at = seconds(wallMs + dueAtMs - atMs);
  const terms = { probability, burst, load_seconds: seconds(loadMs), gain, price, risk, margin };
  return { source, hint, due_at, ...terms, left_seconds: seconds(leftMs) };
}

function scoredWire(scored: Scored): ScoredWire {
  return {
    model: scored.model,
    depth: scored.depth,
    oldest_wait_seconds: seconds(scored.oldestWaitMs),
    priority: scored.priority,
    ...scored.terms,
    switch_cost: scored.switchCost,
    score: scored.score,
    eligible: scored.eligible,
    why_not: scored.whyNot,
  };
}
