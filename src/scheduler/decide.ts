// The only entry to the scheduler: one snapshot and a policy in, one verdict out, and nothing else read or changed.

import type { DecisionReason, Guard, Verdict } from "../domain/decision.ts";
import type { JobId } from "../domain/ids.ts";
import {
  ceilingAt,
  forcedSwapSpent,
  lapseAt,
  overdue,
  residencyEndsAt,
  servesFirst,
  withinResidency,
} from "./guards.ts";
import { byOldest, firstBy, isBusy } from "./policies/ties.ts";
import type { BoundPolicy, Candidate } from "./policy.ts";
import { preloadLooks, preloadMove } from "./preload.ts";
import { restLooks, restMove } from "./rest.ts";
import { earliestAfter, longestUnvisited, type Scene, sceneOf } from "./scene.ts";
import type { Snapshot } from "./snapshot.ts";
import { giveUp, move, stay } from "./verdict.ts";

/** A verdict, and how many of the resident's jobs may start before `decide` is asked again: 0 when it may start none. */
export type Decided = Verdict & {
  readonly serve: number;
  /** The queued job of the resident that starts first, whatever its rank; absent or null: none. */
  readonly first?: JobId | null;
};

/**
 * Decides what the device does next. The first rule that speaks is the verdict:
 *
 *   0. A move is under way: stay, but give up a load or drain that nobody wants any more.
 *   1. Stopped by an operator, or empty and its memory not back: stay.
 *   2. An operator asks for a model: load it, unless the resident is pinned.
 *   3. A model is past the ceiling: load the one unvisited longest, once the resident has had its turn.
 *   4. Nothing waits: unload what has idled too long, put back or bring in what is wanted or expected, else rest.
 *   5. Only models wait that may not be loaded now: the resident goes on, an empty device does as in 4.
 *   6. Nothing is loaded: load the policy's choice.
 *   7. The resident cannot serve and others wait: load the policy's choice.
 *   8. The policy keeps the resident: stay.
 *   9. The policy wants another: load it, unless the resident is pinned, has not had its turn, or is too fresh.
 *
 * `kind` says what to do; a stay under way names in `load` and `evict` what the move is about. `nextLookAtMs` is after
 * now, and no later than the first instant at which the verdict differs if nothing happens.
 */
export function decide(snapshot: Snapshot, policy: BoundPolicy): Decided {
  const scene = sceneOf(snapshot, policy);
  return (
    underWay(scene) ?? // 0
    stopped(scene) ?? // 1
    operatorsWish(scene) ?? // 2
    ceiling(scene) ?? // 3
    nothingWaits(scene) ?? // 4
    nothingLoadable(scene) ?? // 5
    nothingLoaded(scene) ?? // 6
    residentUnavailable(scene) ?? // 7
    policyStays(scene) ?? // 8
    policyMoves(scene) // 9
  );
}

/** 0. */
function underWay(scene: Scene): Decided | null {
  const { transition } = scene.snapshot.device;
  if (transition === null) return null;
  const target = scene.candidates.find((each) => each.model === transition.load);
  const unwanted =
    transition.onDemand && transition.load !== null && (target?.depth ?? 0) === 0 && (target?.wanted ?? null) === null;
  const othersWait = scene.candidates.some((each) => each.depth > 0 && each.eligible && each !== target);
  if (unwanted && (transition.phase === "draining" || (transition.phase === "loading" && othersWait))) {
    return giveUp(scene, transition.load);
  }
  const yields = transition.ahead === true && (target?.depth ?? 0) === 0 && othersWait;
  if (yields && transition.phase !== "unloading") return giveUp(scene, transition.load, "yielded");
  const mayEnd = unwanted || transition.ahead === true;
  const looks = scene.candidates.flatMap((each) => (mayEnd && each.depth > 0 ? [each.barrier?.untilMs ?? null] : []));
  const { load, evict, phase } = transition;
  const held = stay(scene, "hold", phase, "in_transition", earliestAfter(scene.nowMs, looks), null);
  return { ...held, load, evict, serve: 0 };
}

/** 1. */
function stopped(scene: Scene): Decided | null {
  const { device, models } = scene.snapshot;
  const kind = models.some((each) => each.depth > 0) ? "hold" : "idle";
  const oldest = firstBy(scene.candidates, byOldest);
  if (device.paused || (models.length > 0 && models.every((each) => each.paused))) {
    return { ...stay(scene, kind, "paused", "paused", null, oldest), serve: 0 };
  }
  if (scene.residency !== null || device.blockedUntilMs <= scene.nowMs) return null;
  return { ...stay(scene, kind, "blocked", null, device.blockedUntilMs, oldest), serve: 0 };
}

/** 2. */
function operatorsWish(scene: Scene): Decided | null {
  const wished = scene.candidates.filter((each) => each.wanted === "operator" && !each.resident && each.eligible);
  const target = firstBy(wished, () => 0);
  return target === null || scene.resident?.pinned ? null : move(scene, target, "operator", null);
}

/** 3. */
function ceiling(scene: Scene): Decided | null {
  const target = overdue(scene);
  if (target === null) return null;
  if (scene.resident?.pinned) return hold(scene, "pinned", "pinned", target);
  if (servesFirst(scene)) return hold(scene, "serve_first", "serve_first", target);
  if (forcedSwapSpent(scene)) return hold(scene, "forced_swap_spent", "forced_swap_spent", target);
  return move(scene, target, "ceiling", "ceiling");
}

/** 4. */
function nothingWaits(scene: Scene): Decided | null {
  if (scene.candidates.some((each) => each.depth > 0)) return null;
  const rest = restMove(scene) ?? preloadMove(scene);
  if (rest !== null) return rest;
  const nextLookAtMs = earliestAfter(scene.nowMs, [...restLooks(scene), ...preloadLooks(scene)]);
  if (scene.resident !== null && isBusy(scene.resident))
    return stay(scene, "hold", "serving", null, nextLookAtMs, null);
  return stay(scene, "idle", "no_work", null, nextLookAtMs, null);
}

/** 5. */
function nothingLoadable(scene: Scene): Decided | null {
  const { resident, waiting, shutOut } = scene;
  if (waiting.length > 0 || (shutOut.length === 0 && resident?.eligible)) return null;
  const busy = resident?.eligible === true && isBusy(resident);
  const rest = busy ? null : restMove(scene);
  if (rest !== null) return rest;
  const shut = resident?.eligible === false && resident.depth > 0 ? [...shutOut, resident] : shutOut;
  const codes = shut.map((each) => each.barrier?.code);
  const reason =
    (["back_off", "blocked", "paused", "no_room"] as const).find((code) => codes.includes(code)) ?? "back_off";
  const guard = reason === "back_off" || reason === "paused" ? reason : null;
  return stay(scene, busy ? "hold" : "idle", reason, guard, nextLook(scene), longestUnvisited(shut));
}

/** 6. */
function nothingLoaded(scene: Scene): Decided | null {
  if (scene.residency !== null) return null;
  const target = chosen(scene) ?? longestUnvisited(scene.waiting);
  return target === null
    ? stay(scene, "idle", "no_work", null, nextLook(scene), null)
    : move(scene, target, "cold", null);
}

/** 7. */
function residentUnavailable(scene: Scene): Decided | null {
  if (scene.resident?.eligible) return null;
  const target = chosen(scene) ?? longestUnvisited(scene.waiting);
  if (target === null) return null;
  if (scene.resident?.pinned) return hold(scene, "pinned", "pinned", target);
  return move(scene, target, "resident_unavailable", null);
}

/** 8. */
function policyStays(scene: Scene): Decided | null {
  if (chosen(scene) !== null) return null;
  const rival = favourite(scene);
  if (rival === null) return stay(scene, "hold", "serving", null, nextLook(scene), null);
  return hold(scene, scene.choice.reason, null, rival);
}

/** 9. */
function policyMoves(scene: Scene): Decided {
  const target = chosen(scene);
  if (target === null) return stay(scene, "hold", "serving", null, nextLook(scene), null);
  if (scene.resident?.pinned) return hold(scene, "pinned", "pinned", target);
  if (servesFirst(scene)) return hold(scene, "serve_first", "serve_first", target);
  if (withinResidency(scene, target)) return hold(scene, "min_residency", "min_residency", target);
  return move(scene, target, scene.choice.reason, scene.choice.reason === "resident_idle" ? "idle_lapse" : null);
}

/** The policy's choice when it is another model that may be loaded. */
function chosen({ choice, waiting }: Scene): Candidate | null {
  return waiting.find((each) => each.model === choice.target) ?? null;
}

/** Whom the resident is kept against: whom the policy names, else the best score that may be loaded or the longest wait. */
function favourite({ choice, waiting }: Scene): Candidate | null {
  const named = waiting.find((each) => each.model === choice.about);
  if (named !== undefined) return named;
  const scores = new Map(choice.scored.map((each) => [each.model, each.score ?? Number.NEGATIVE_INFINITY]));
  const score = (each: Candidate): number => scores.get(each.model) ?? Number.NEGATIVE_INFINITY;
  return firstBy(waiting, (a, b) => (score(a) === score(b) ? byOldest(a, b) : score(b) - score(a)));
}

function hold(scene: Scene, reason: DecisionReason, guard: Guard | null, rival: Candidate): Decided {
  return stay(scene, "hold", reason, guard, nextLook(scene), rival);
}

/** The first instant at which a rule or a score can speak differently. */
function nextLook(scene: Scene): number | null {
  const { waiting, shutOut, choice, guards } = scene;
  const looks: (number | null)[] = [...restLooks(scene)];
  for (const each of shutOut) looks.push(each.barrier?.untilMs ?? null);
  if (waiting.length > 0) looks.push(residencyEndsAt(scene), choice.nextLookAtMs);
  const fresh = scene.nowMs < residencyEndsAt(scene);
  for (const each of waiting) looks.push(ceilingAt(each, guards.maxWaitMs), fresh ? lapseAt(scene, each) : null);
  return earliestAfter(scene.nowMs, looks);
}
