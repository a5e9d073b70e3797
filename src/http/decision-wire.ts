// A decision as the wire spells it: seconds, snake_case, wall clock; every addend of every score.

import type { DecisionWire, ScoredWire } from "../client/wire.ts";
import type { Decision, Scored } from "../domain/decision.ts";
import { seconds } from "./receipt.ts";

export function decisionWire(decision: Decision): DecisionWire {
  const { atMs, wallMs, nextLookAtMs } = decision;
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
    next_look_at: nextLookAtMs === null ? null : seconds(wallMs + nextLookAtMs - atMs),
    sentence: decision.sentence,
  };
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
