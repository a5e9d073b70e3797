// The only entry to the scheduler: one snapshot and a policy in, one verdict out, and nothing else read or changed.

import type { DecisionReason, Guard } from "../domain/decision.ts";
import { type Bar, barToCeiling, barToChoice, ceilingAt, lapseAt, overdue, residencyEndsAt } from "./guards.ts";
import { byOldest, firstBy, isBusy } from "./policies/ties.ts";
import type { BoundPolicy, Candidate, Choice } from "./policy.ts";
import { preloadLooks, preloadMove } from "./preload.ts";
import { idleUnload, restLooks, restMove } from "./rest.ts";
import { earliestAfter, longestUnvisited, type Scene, sceneOf } from "./scene.ts";
import type { Snapshot } from "./snapshot.ts";
import { type Decided, giveUp, move, stay } from "./verdict.ts";

/** Which of several models has to go is looked at again so often while one waits: their worth changes with time. */
const WORTH_LOOK_MS = 5_000;

/**
 * Decides what the device does next. The first rule that speaks is the verdict:
 *
 *   0. A move is under way: stay, but give up a load or drain that nobody wants any more.
 *   1. Stopped by an operator, or empty and its memory not back: stay.
 *   2. An operator asks for a model: load it, unless a pinned one would have to go.
 *   3. A model is past the ceiling: load the one unvisited longest, once those in its place have had their turn.
 *   4. Nothing waits that may be loaded: unload what has idled too long, put back or bring in what is wanted
 *      or expected, else go on.
 *   5. Nothing is loaded: load the policy's choice.
 *   6. What is in a model's place cannot serve: load the policy's choice of such models.
 *   7. Another model has idled too long: unload it.
 *   8. The policy prefers none of those that wait: stay.
 *   9. It prefers one: load it, unless a victim is pinned, has not had its turn, or is too fresh; then the next of those
 *      with other victims.
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
    nothingToLoad(scene) ?? // 4
    nothingLoaded(scene) ?? // 5
    placeUnused(scene) ?? // 6
    idleBeside(scene) ?? // 7
    preference(scene) // 8, 9
  );
}

/** 0. */
function underWay(scene: Scene): Decided | null {
  const { transition } = scene.snapshot.device;
  if (transition === null) return null;
  const target = scene.candidates.find((each) => each.model === transition.load);
  const goes = scene.tenants.filter(({ model }) => transition.evict.includes(model));
  const othersWait = [...scene.waiting, ...goes].some((each) => each.depth > 0 && each.eligible && each !== target);
  const ours = transition.calledOff !== true && transition.guest !== true;
  const unwanted =
    ours &&
    transition.onDemand &&
    transition.load !== null &&
    (target?.depth ?? 0) === 0 &&
    (target?.wanted ?? null) === null;
  if (unwanted && (transition.phase === "draining" || (transition.phase === "loading" && othersWait))) {
    return giveUp(scene, transition.load);
  }
  const yields = ours && transition.ahead === true && (target?.depth ?? 0) === 0 && othersWait;
  if (yields && transition.phase !== "unloading") return giveUp(scene, transition.load, "yielded");
  const mayEnd = unwanted || transition.ahead === true;
  const { load, evict, phase } = transition;
  const heard = (each: Candidate): boolean => (each.resident ? !evict.includes(each.model) : mayEnd && each.depth > 0);
  const looks = scene.candidates.filter(heard).map(({ barrier }) => barrier?.untilMs ?? null);
  const held = stay(scene, "hold", phase, "in_transition", earliestAfter(scene.nowMs, looks), null);
  return { ...held, load, evict };
}

/** 1. */
function stopped(scene: Scene): Decided | null {
  const { device, models } = scene.snapshot;
  const kind = models.some((each) => each.depth > 0) ? "hold" : "idle";
  const oldest = firstBy(scene.candidates, byOldest);
  if (device.paused || (models.length > 0 && models.every((each) => each.paused))) {
    return { ...stay(scene, kind, "paused", "paused", null, oldest), serve: 0, serves: [] };
  }
  if (device.residents.length > 0 || device.blockedUntilMs <= scene.nowMs) return null;
  return stay(scene, kind, "blocked", null, device.blockedUntilMs, oldest);
}

/** 2. */
function operatorsWish(scene: Scene): Decided | null {
  const wished = scene.candidates.filter((each) => each.wanted === "operator" && !each.resident && each.eligible);
  const open = wished.filter((each) => !each.victims.some(({ pinned }) => pinned));
  const target = firstBy(open, () => 0);
  return target === null ? null : move(scene, target, "operator", null);
}

/** 3. What fits beside everything else need not wait for the turn of those in another's place. */
function ceiling(scene: Scene): Decided | null {
  const due = overdue(scene);
  let barred: Decided | null = null;
  for (const target of due) {
    const bar = barToCeiling(scene, target);
    if (bar === null) return { ...move(scene, target, "ceiling", "ceiling"), numbers: ceilingNumbers(scene, target) };
    barred ??= hold(scene, bar, target);
  }
  return scene.waiting.some(fitsBeside) ? null : barred;
}

function ceilingNumbers({ guards }: Scene, { oldestWaitMs }: Candidate): Readonly<Record<string, number>> {
  return { waited_seconds: oldestWaitMs / 1_000, ceiling_seconds: (guards.maxWaitMs ?? 0) / 1_000 };
}

/** 4. */
function nothingToLoad(scene: Scene): Decided | null {
  const { tenants, waiting, shutOut } = scene;
  if (waiting.length > 0) return null;
  const rest = restMove(scene) ?? (shutOut.length === 0 ? preloadMove(scene) : null);
  if (rest !== null) return rest;
  const shut = [...shutOut, ...tenants.filter((each) => !each.eligible && each.depth > 0)];
  const nextLookAtMs = nextLook(scene);
  if (shut.length === 0) {
    if (tenants.some(isBusy)) return stay(scene, "hold", "serving", null, nextLookAtMs, null);
    return stay(scene, "idle", "no_work", null, nextLookAtMs, null);
  }
  const codes = shut.map((each) => each.barrier?.code);
  const reason =
    (["back_off", "blocked", "paused", "no_room"] as const).find((code) => codes.includes(code)) ??
    (codes.includes("busy") ? "no_room" : "back_off");
  const guard = reason === "back_off" || reason === "paused" ? reason : null;
  const busy = tenants.some((each) => each.eligible && isBusy(each));
  return stay(scene, busy ? "hold" : "idle", reason, guard, nextLookAtMs, longestUnvisited(shut));
}

/** 5. */
function nothingLoaded(scene: Scene): Decided | null {
  if (scene.snapshot.device.residents.length > 0) return null;
  const inPlaceOfNone = scene.waiting.filter((each) => each.victims.length === 0);
  const target = chosen(inPlaceOfNone, scene.choice) ?? longestUnvisited(inPlaceOfNone);
  return target === null ? null : move(scene, target, "cold", null);
}

/** 6. */
function placeUnused(scene: Scene): Decided | null {
  const open = scene.waiting.filter(({ victims }) => {
    return victims.every((each) => !each.eligible) && (victims.length > 0 || scene.strangers.length > 0);
  });
  const favoured = chosen(scene.waiting, scene.choice);
  if (open.length === 0 || (favoured !== null && !open.includes(favoured))) return null;
  const target = favoured ?? longestUnvisited(open);
  if (target === null) return null;
  if (target.victims.some(({ pinned }) => pinned)) return hold(scene, { reason: "pinned", guard: "pinned" }, target);
  return move(scene, target, "resident_unavailable", null);
}

/** 7. On a device that holds one model, an idle one is kept until it is clear what takes its place. */
function idleBeside(scene: Scene): Decided | null {
  return scene.tenants.length > 1 ? idleUnload(scene) : null;
}

/** 8 and 9. */
function preference(scene: Scene): Decided {
  const late = overdue(scene).length > 0;
  let open = late ? scene.waiting.filter(fitsBeside) : scene.waiting;
  let choice = late ? scene.ask(open) : scene.choice;
  let barred: Decided | null = null;
  for (;;) {
    const target = chosen(open, choice);
    if (target === null) break;
    const bar = barToChoice(scene, target);
    if (bar === null) return move(scene, target, ...reasonFor(scene, target, choice), choice);
    barred ??= hold(scene, bar, target);
    open = open.filter((each) => !sameVictims(each, target));
    if (open.length === 0) break;
    choice = scene.ask(open);
  }
  if (barred !== null) return barred;
  const rival = favourite(scene);
  if (rival === null) return stay(scene, "hold", "serving", null, nextLook(scene), null);
  return hold(scene, { reason: scene.choice.reason, guard: null }, rival);
}

function reasonFor({ tenants }: Scene, target: Candidate, { reason }: Choice): [DecisionReason, Guard | null] {
  if (target.victims.length === 0) return [tenants.length > 0 ? "fits" : "cold", null];
  return [reason, reason === "resident_idle" ? "idle_lapse" : null];
}

function fitsBeside({ victims }: Candidate): boolean {
  return victims.length === 0;
}

function sameVictims(a: Candidate, b: Candidate): boolean {
  return a.victims.length === b.victims.length && a.victims.every((each) => b.victims.includes(each));
}

/** The policy's choice when it is one of these. */
function chosen(open: readonly Candidate[], { target }: Choice): Candidate | null {
  return open.find((each) => each.model === target) ?? null;
}

/** Whom what is loaded is kept against: whom the policy names, else the best score that may be loaded or the longest wait. */
function favourite({ choice, waiting }: Scene): Candidate | null {
  const named = waiting.find((each) => each.model === choice.about);
  if (named !== undefined) return named;
  const scores = new Map(choice.scored.map((each) => [each.model, each.score ?? Number.NEGATIVE_INFINITY]));
  const score = (each: Candidate): number => scores.get(each.model) ?? Number.NEGATIVE_INFINITY;
  return firstBy(waiting, (a, b) => (score(a) === score(b) ? byOldest(a, b) : score(b) - score(a)));
}

function hold(scene: Scene, { reason, guard }: Bar, rival: Candidate): Decided {
  return stay(scene, "hold", reason, guard, nextLook(scene), rival);
}

/** The device holds as many models as its memory allows. */
function packs({ snapshot }: Scene): boolean {
  return snapshot.device.memoryGiB !== null;
}

/** The first instant at which a rule or a score can speak differently. */
function nextLook(scene: Scene): number | null {
  const { waiting, shutOut, choice, guards, nowMs } = scene;
  const looks: (number | null)[] = [...restLooks(scene)];
  const still = waiting.length === 0 && shutOut.length === 0;
  if (still && (packs(scene) || !scene.tenants.some(({ depth }) => depth > 0))) looks.push(...preloadLooks(scene));
  for (const each of shutOut) looks.push(each.barrier?.untilMs ?? null);
  if (waiting.length > 0) looks.push(choice.nextLookAtMs);
  for (const each of waiting) {
    looks.push(ceilingAt(each, guards.maxWaitMs));
    if (each.victims.length > 0 && each.victims.length < scene.tenants.length) looks.push(nowMs + WORTH_LOOK_MS);
    for (const victim of each.victims) {
      const freshUntilMs = residencyEndsAt(scene, victim);
      looks.push(freshUntilMs, nowMs < freshUntilMs ? lapseAt(scene, victim, each) : null);
    }
  }
  return earliestAfter(nowMs, looks);
}
