// A verdict in one English sentence or two, and as the rule that holds a queue. The API, the page, the log and the command
// line all show the same words.

import type { DecisionReason, Verdict } from "../domain/decision.ts";
import type { HoldRule } from "../domain/wait.ts";
import { STINT_SENTENCES } from "./explain-stint.ts";
import { type Facts, idleMs, kept, type Labels, moved, nameOf, ofOne, type Told, tell, waits } from "./told.ts";
import { duration, jobs, jobsWait, quantity, score, scores } from "./wording.ts";

/** @returns Text without a line break; quantities hold no-break spaces. */
export function sentence(verdict: Verdict, labels: Labels, facts: Facts = {}): string {
  const told = tell(verdict, labels, facts);
  const stays = verdict.kind === "hold" || verdict.kind === "idle";
  return (stays ? (STAYS[verdict.reason] ?? SENTENCES[verdict.reason]) : SENTENCES[verdict.reason])(told);
}

/** The rule that keeps other models' queues waiting under this verdict; null when it holds none back. */
export function holdRule(verdict: Verdict): HoldRule | null {
  if (verdict.kind === "swap" || verdict.kind === "load" || verdict.kind === "preload") return "switching_other";
  return RULES[verdict.reason] ?? null;
}

const RULES: Partial<Record<DecisionReason, HoldRule>> = {
  resident_wins: "score",
  min_residency: "min_residency",
  serve_first: "serve_first",
  forced_swap_spent: "forced_swap_spent",
  pinned: "pinned",
  no_room: "no_room",
  blocked: "no_room",
  finish: "order",
  not_worth: "not_worth",
  budget: "budget",
  likely_needed: "likely_needed",
  quantum: "quantum",
  arrival_order: "order",
  longest_queue: "order",
  loading: "switching_other",
  draining: "switching_other",
  unloading: "switching_other",
  unwanted: "own_move",
  yielded: "own_move",
  idle_timeout: "own_move",
  removed: "own_move",
  operator: "own_move",
  drain: "own_move",
};

function residentWins(told: Told): string {
  const { here, hereName, other, otherName, verdict } = told;
  if (here === null || other === null || here.score === null || other.score === null) return staysAnyway(told);
  if (here.depth > 0) {
    const [mine, theirs] = scores(here.score, other.score);
    const own = `${told.several ? `${told.bestName}'s` : "its"} score ${mine}`;
    const against = `${otherName}'s ${theirs}`;
    if (here.score > other.score) return `Kept ${hereName}: ${own} beats ${against}.`;
    return `Kept ${hereName}: ${own} against ${against} is no reason to swap.`;
  }
  const idle = idleMs(verdict, here.model) > 0;
  const cost = other.switchCost > 0 ? `a swap that costs ${score(other.switchCost)}` : "a swap";
  const noun = other.depth === 1 ? "job is" : "jobs are";
  const what = `${otherName}'s ${other.depth}\u00a0${noun} not yet worth ${cost} (score ${score(other.score)})`;
  return `Kept ${hereName}${idle ? ", idle" : ""}: ${what}.`;
}

function staysAnyway(told: Told): string {
  const place = told.several ? "their" : "its";
  return told.here === null
    ? `Nothing is loaded, and nothing that waits may be loaded yet.${waits(told)}`
    : `${kept(told)}no other model may take ${place} place yet.${waits(told)}`;
}

/** Reasons of moves where nothing moves: what the policy prefers is loaded already, or may not come. */
const STAYS: Partial<Record<DecisionReason, (told: Told) => string>> = {
  arrival_order: (told) =>
    `${kept(told)}the job that is next in order is ${told.several ? "one of theirs" : "its own"}.${waits(told)}`,
  challenger_wins: staysAnyway,
  longest_queue: staysAnyway,
  free: staysAnyway,
  worth: staysAnyway,
  visit: staysAnyway,
  deadline: staysAnyway,
  cold: staysAnyway,
  resident_idle: staysAnyway,
};

function ceilingSentence(told: Told): string {
  const { maxWaitMs } = told.facts;
  const limit =
    maxWaitMs === undefined || maxWaitMs === null
      ? "that is past the ceiling"
      : `the ceiling is ${duration(maxWaitMs)}`;
  return `${moved(told)}its oldest job had waited ${duration(told.other?.oldestWaitMs ?? 0)}; ${limit}.`;
}

function challengerWins(told: Told): string {
  const { here, bestName, other } = told;
  if (other === null || other.score === null) return `${moved(told)}it is worth more.`;
  if (here === null || here.score === null) return `${moved(told)}its score ${score(other.score)} was the highest.`;
  const [its, theirs] = scores(other.score, here.score);
  return `${moved(told)}its score ${its} overtook ${bestName}'s ${theirs}.`;
}

function shutOutSentence(told: Told): string {
  const { verdict, here, other, otherName, label } = told;
  if (other === null) {
    const shut = verdict.models.find((each) => each.depth > 0 && each.whyNot !== null) ?? here;
    if (shut === null || shut.whyNot === null) return "Waiting.";
    return `${label(shut.model)} ${shut.whyNot}; ${jobsWait(shut.depth)} for it.`;
  }
  const lead = here !== null && verdict.kind === "hold" ? kept(told) : "";
  return `${lead}${otherName} ${other.whyNot ?? "may not be loaded now"}; ${jobsWait(other.depth)} for it.`;
}

function preloadSentence(told: Told): string {
  const { preload } = told.verdict;
  if (preload === undefined) return `${moved(told)}it is expected to be needed.`;
  const { source, dueInMs, gain, margin, price, risk } = preload;
  const when = dueInMs > 0 ? `in ${duration(dueInMs)}` : "now";
  const cost = `${margin}\u00a0\u00d7\u00a0${score(price + risk)}`;
  return `${moved(told)}expected ${when} (${source}), gain ${score(gain)} > ${cost}.`;
}

/** `Unloaded a: an operator asked for it. Its 2 running jobs finish first.` */
function takenOutWords({ verdict, label, otherName }: Told, verb: string): string {
  const [model] = verdict.evict;
  if (model === undefined) return `${verb} ${otherName}: an operator asked for it.`;
  const asked = "an operator asked for it.";
  if (!verdict.resident.some((each) => each.model === model)) return `Gave up loading ${label(model)}: ${asked}`;
  const { running_jobs: running = 0, interrupted = 0 } = verdict.numbers ?? {};
  const lead = `${verb} ${label(model)}: ${asked}`;
  if (running === 0) return lead;
  const noun = quantity(running, "running job");
  if (interrupted > 0) return `${lead} Its ${noun} ${running === 1 ? "was" : "were"} stopped and will run again.`;
  return `${lead} Its ${noun} ${running === 1 ? "finishes" : "finish"} first.`;
}

/** As stint tells it. */
const weighed =
  (reason: keyof typeof STINT_SENTENCES) =>
  (told: Told): string =>
    STINT_SENTENCES[reason]({
      lead: told.verdict.load === null ? kept(told) : moved(told),
      here: told.hereName,
      other: told.otherName,
      depth: told.other?.depth ?? 0,
      numbers: told.verdict.numbers ?? {},
      spend: told.verdict.spend ?? null,
    });

const SENTENCES: Readonly<Record<DecisionReason, (told: Told) => string>> = {
  cold: (told) => `${moved(told)}nothing was loaded.`,
  fits: (told) => `${moved(told)}it fits beside ${told.hereName}.`,
  challenger_wins: challengerWins,
  resident_idle: (told) => `${moved(told)}${told.hereName} had no work, ${jobs(told.other?.depth ?? 0)} waited.`,
  resident_unavailable: (told) => {
    const why = told.several ? "could not be served" : (told.here?.whyNot ?? "could not be served");
    return `${moved(told)}${told.hereName} ${why}, ${jobs(told.other?.depth ?? 0)} waited.`;
  },
  ceiling: ceilingSentence,
  longest_queue: (told) => `${moved(told)}its queue of ${jobs(told.other?.depth ?? 0)} was the longest.`,
  arrival_order: (told) => `${moved(told)}its job was next in order.`,
  free: weighed("free"),
  worth: weighed("worth"),
  visit: weighed("visit"),
  deadline: weighed("deadline"),
  not_worth: weighed("not_worth"),
  budget: weighed("budget"),
  likely_needed: weighed("likely_needed"),
  quantum: weighed("quantum"),
  restore: (told) => `${moved(told)}it worked before, and what was to replace it did not load.`,
  keep_ready: (told) => {
    const room = told.verdict.resident.length > 0 ? `it fits beside ${told.hereName}` : "nothing was loaded";
    return `${moved(told)}it is to be kept ready, and ${room}.`;
  },
  preload: preloadSentence,
  pinned: (told) =>
    told.verdict.load === null
      ? `${kept(told)}${ofOne(told, "it is pinned", "is pinned")}.${waits(told)}`
      : `${moved(told)}it is pinned.`,
  operator: (told) =>
    told.verdict.load === null ? takenOutWords(told, "Unloaded") : `${moved(told)}an operator asked for it.`,
  drain: (told) => `${takenOutWords(told, "Drained")} Nothing of it starts until an operator loads it.`,
  pin: ({ verdict, otherName }) => {
    const loaded = verdict.resident.some(({ model }) => model === verdict.about);
    const then = loaded ? "nothing takes its place until it is unpinned" : "it is loaded once nothing else waits";
    return `Pinned ${otherName}, as an operator asked: ${then}.`;
  },
  unpin: ({ otherName }) => `Unpinned ${otherName}, as an operator asked: other models may take its place again.`,
  idle_timeout: ({ hereName, verdict, several }) =>
    `Unloaded ${hereName}: ${several ? "they" : "it"} had no work for ${duration(idleMs(verdict))}.`,
  unwanted: ({ verdict, label }) => `Gave up loading ${nameOf(verdict.evict[0], label)}: nobody waits for it any more.`,
  yielded: ({ verdict, label }) =>
    `Gave up loading ${nameOf(verdict.evict[0], label)} ahead of need: work came for another model.`,
  removed: ({ hereName, several }) => `Unloaded ${hereName}: ${several ? "they are" : "it is"} no longer configured.`,
  no_work: ({ here, hereName, several }) => {
    if (here === null) return "Idle. Nothing is waiting.";
    return `Idle. ${hereName} ${several ? "are" : "is"} loaded and nothing is waiting.`;
  },
  serving: ({ hereName }) => `Serving ${hereName}: nothing else is waiting.`,
  resident_wins: residentWins,
  min_residency: (told) => {
    const { minResidencyMs = null } = told.facts;
    const of = minResidencyMs === null ? "" : ` of ${duration(minResidencyMs)}`;
    const fresh = `loaded less than its minimum residency${of} ago`;
    return `${kept(told)}${ofOne(told, fresh, `was ${fresh}`)}.${waits(told)}`;
  },
  serve_first: (told) => {
    const fresh = "freshly loaded, and not swapped before it has served at least once";
    return `${kept(told)}${ofOne(told, fresh, `is ${fresh}`)}.${waits(told)}`;
  },
  forced_swap_spent: (told) => {
    const forced = "brought in by the ceiling, and not taken out by it before its turn is over";
    return `${kept(told)}${ofOne(told, forced, `was ${forced}`)}.${waits(told)}`;
  },
  finish: (told) => `${kept(told)}${told.several ? "they finish their" : "it finishes its"} work first.${waits(told)}`,
  back_off: shutOutSentence,
  paused: (told) =>
    told.verdict.models.every((each) => each.eligible || each.depth === 0) || told.other?.whyNot === null
      ? `Paused by an operator.${waits(told)}`
      : shutOutSentence(told),
  no_room: shutOutSentence,
  blocked: ({ verdict }) => {
    const waiting = verdict.models.reduce((sum, each) => sum + each.depth, 0);
    return `Blocked: the device has not given its memory back.${waiting > 0 ? ` ${jobsWait(waiting)}.` : ""}`;
  },
  loading: ({ other, otherName }) =>
    `Loading ${otherName}${other !== null && other.depth > 0 ? `: ${jobsWait(other.depth)} for it` : ""}.`,
  draining: ({ verdict, hereName, otherName }) =>
    verdict.load === null
      ? `Draining ${hereName}: what it runs is finishing.`
      : `Making room for ${otherName}: what ${hereName} runs is finishing.`,
  unloading: ({ verdict, hereName, otherName }) =>
    verdict.load === null ? `Unloading ${hereName}.` : `Unloading ${hereName} to make room for ${otherName}.`,
};
