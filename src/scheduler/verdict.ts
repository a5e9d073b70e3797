// Writes verdicts: what is decided, with the arithmetic of every candidate and the jobs it is about.

import type { DecisionReason, Guard, Verdict } from "../domain/decision.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { Decided } from "./decide.ts";
import type { Candidate } from "./policy.ts";
import type { Scene } from "./scene.ts";

/** Nothing moves. `rival` is the model that goes on waiting. */
export function stay(
  scene: Scene,
  kind: "hold" | "idle",
  reason: DecisionReason,
  guard: Guard | null,
  nextLookAtMs: number | null,
  rival: Candidate | null,
): Decided {
  const serve = scene.resident?.eligible ? scene.choice.serve : 0;
  const { numbers, about, first } = scene.choice;
  const weighed = reason === scene.choice.reason && guard === null;
  return {
    ...frame(scene),
    ...{ kind, reason, guard, jobs: jobsOf(rival), nextLookAtMs, serve },
    ...(first === undefined ? {} : { first }),
    ...(weighed && numbers !== undefined ? { numbers } : {}),
    ...(weighed && about !== undefined ? { about } : {}),
  };
}

/** Brings `target` in: a swap where something has to go, a preload where nobody waits for it. */
export function move(scene: Scene, target: Candidate, reason: DecisionReason, guard: Guard | null): Decided {
  const evict = scene.snapshot.device.residents.map((each) => each.model);
  const awaited = target.depth > 0 || reason === "operator";
  const kind = evict.length > 0 ? "swap" : awaited ? "load" : "preload";
  const { numbers, spend } = scene.choice;
  const weighed = target.model === scene.choice.target && reason === scene.choice.reason;
  return {
    ...frame(scene),
    ...{ kind, reason, guard, load: target.model, evict, jobs: jobsOf(target) },
    ...(weighed && numbers !== undefined ? { numbers } : {}),
    ...(weighed && spend != null ? { spend } : {}),
  };
}

/** Takes out what is there and brings in nothing. */
export function unload(scene: Scene, reason: "idle_timeout" | "removed"): Decided {
  const evict = scene.snapshot.device.residents.map((each) => each.model);
  return { ...frame(scene), kind: "unload", reason, evict };
}

/** Abandons the load of `target`, or calls off the drain that makes room for it; `evict` names `target`. */
export function giveUp(scene: Scene, target: ModelName | null, reason: "unwanted" | "yielded" = "unwanted"): Decided {
  return { ...frame(scene), kind: "unload", reason, evict: target === null ? [] : [target] };
}

function frame({ snapshot, choice, candidates, nowMs }: Scene): Decided {
  const verdict: Verdict = {
    kind: "idle",
    reason: "no_work",
    guard: null,
    device: snapshot.device.device,
    load: null,
    evict: [],
    resident: snapshot.device.residents.map(({ model, sinceMs, idleSinceMs }) => {
      const view = candidates.find((each) => each.model === model);
      const idle = idleSinceMs !== null && view?.depth === 0 && view.inFlight === 0;
      return { model, forMs: Math.max(0, nowMs - sinceMs), idleMs: idle ? Math.max(0, nowMs - idleSinceMs) : 0 };
    }),
    models: choice.scored,
    jobs: [],
    nextLookAtMs: null,
  };
  return { ...verdict, serve: 0 };
}

function jobsOf(each: Candidate | null): JobId[] {
  if (each === null) return [];
  return [...new Set([each.head?.id, each.oldest?.id])].filter((id) => id !== undefined);
}
