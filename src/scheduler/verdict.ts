// Writes verdicts: what is decided, with the arithmetic of every candidate and the jobs it is about.

import type { DecisionReason, Guard, Verdict } from "../domain/decision.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { Candidate, Choice } from "./policy.ts";
import type { Scene } from "./scene.ts";

export type Decided = Verdict & {
  /** How many jobs of each model in `serves` may start before `decide` is asked again: 0 when none may. */
  readonly serve: number;
  /** The queued job that starts before those of its model that are ranked ahead of it; absent or null: none. */
  readonly first?: JobId | null;
  /** The loaded models that may start jobs. */
  readonly serves: readonly ModelName[];
  /** For each model that waits, those that would have to go for it. */
  readonly against: ReadonlyMap<ModelName, readonly ModelName[]>;
};

/** Nothing moves. `rival` is the model that goes on waiting. */
export function stay(
  scene: Scene,
  kind: "hold" | "idle",
  reason: DecisionReason,
  guard: Guard | null,
  nextLookAtMs: number | null,
  rival: Candidate | null,
): Decided {
  const { turn = null, serve, numbers, about, first } = scene.choice;
  const serves = servable(scene).filter((model) => turn === null || model === turn);
  const weighed = reason === scene.choice.reason && guard === null;
  return {
    ...frame(scene),
    ...{ kind, reason, guard, jobs: jobsOf(rival), nextLookAtMs, serve: serves.length > 0 ? serve : 0, serves },
    ...(first === undefined ? {} : { first }),
    ...(weighed && numbers !== undefined ? { numbers } : {}),
    ...(weighed && about !== undefined ? { about } : {}),
  };
}

/** What is loaded here, can serve and is not on its way out. */
function servable({ snapshot: { device }, tenants }: Scene): ModelName[] {
  const leaves = (model: ModelName): boolean => device.transition?.evict.includes(model) === true;
  const open = tenants.filter((each) => each.eligible && each.foreign !== true && !each.leaving && !leaves(each.model));
  return open.map(({ model }) => model);
}

/**
 * Brings `target` in: a swap where something has to go, a preload where nobody waits for it. `choice` is what the policy
 * said when it preferred it.
 */
export function move(
  scene: Scene,
  target: Candidate,
  reason: DecisionReason,
  guard: Guard | null,
  choice: Choice = scene.choice,
): Decided {
  const evict = [...scene.strangers, ...target.victims.map(({ model }) => model)];
  const awaited = target.depth > 0 || reason === "operator";
  const kind = evict.length > 0 ? "swap" : awaited ? "load" : "preload";
  const { numbers, spend } = choice;
  const weighed = target.model === choice.target && reason === choice.reason;
  return {
    ...frame(scene),
    ...{ kind, reason, guard, load: target.model, evict, jobs: jobsOf(target) },
    ...(weighed && numbers !== undefined ? { numbers } : {}),
    ...(weighed && spend != null ? { spend } : {}),
  };
}

/** Takes these out and brings in nothing. */
export function unload(
  scene: Scene,
  evict: readonly ModelName[],
  reason: "idle_timeout" | "removed" | "operator" | "drain",
): Decided {
  return { ...frame(scene), kind: "unload", reason, evict };
}

/** Abandons the load of `target`, or calls off the drain that makes room for it; `evict` names `target`. */
export function giveUp(scene: Scene, target: ModelName | null, reason: "unwanted" | "yielded" = "unwanted"): Decided {
  return { ...frame(scene), kind: "unload", reason, evict: target === null ? [] : [target] };
}

function frame({ snapshot, choice, tenants, waiting, shutOut, nowMs }: Scene): Decided {
  const verdict: Verdict = {
    kind: "idle",
    reason: "no_work",
    guard: null,
    device: snapshot.device.device,
    load: null,
    evict: [],
    resident: snapshot.device.residents.map(({ model, sinceMs }) => {
      const idleMs = tenants.find((each) => each.model === model)?.idleMs ?? 0;
      return { model, forMs: Math.max(0, nowMs - sinceMs), idleMs };
    }),
    models: choice.scored,
    jobs: [],
    nextLookAtMs: null,
  };
  const against = new Map(
    [...waiting, ...shutOut].map(({ model, victims }) => [model, victims.map((each) => each.model)]),
  );
  return { ...verdict, serve: 0, serves: [], against };
}

function jobsOf(each: Candidate | null): JobId[] {
  if (each === null) return [];
  return [...new Set([each.head?.id, each.oldest?.id])].filter((id) => id !== undefined);
}
