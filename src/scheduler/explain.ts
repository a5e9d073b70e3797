// A verdict in one English sentence or two, and as the rule that holds a queue. The API, the page, the log and the command
// line all show the same words.

import type { DecisionReason, Scored, Verdict } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import type { HoldRule } from "../domain/wait.ts";
import { STINT_SENTENCES } from "./explain-stint.ts";
import { duration, jobs, jobsWait, score } from "./wording.ts";

/** What people call a model. */
export type Labels = (model: ModelName) => string;

/** Numbers that a sentence names when they are known. */
export interface Facts {
  readonly maxWaitMs?: number | null;
  /** For each model that waits, those that would have to go for it. */
  readonly against?: ReadonlyMap<ModelName, readonly ModelName[]>;
}

/** @returns Text without a line break; quantities hold no-break spaces. */
export function sentence(verdict: Verdict, labels: Labels, facts: Facts = {}): string {
  return SENTENCES[verdict.reason](tell(verdict, labels, facts));
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
};

/** A verdict taken apart for its sentence. */
interface Told {
  readonly verdict: Verdict;
  readonly label: Labels;
  readonly facts: Facts;
  /** What goes, or is in the way of what waits; of several the one with the highest score; null: nothing. */
  readonly here: Scored | null;
  readonly hereName: string;
  readonly several: boolean;
  /** What is brought in, or what waits. */
  readonly other: Scored | null;
  readonly otherName: string;
}

function tell(verdict: Verdict, label: Labels, facts: Facts): Told {
  const otherModel = verdict.load ?? verdict.about ?? rival(verdict)?.model ?? null;
  const rowOf = (model: ModelName | null): Scored | null => verdict.models.find((each) => each.model === model) ?? null;
  const heres = inPlace(verdict, otherModel, facts);
  return {
    verdict,
    label,
    facts,
    here: heres
      .map(rowOf)
      .reduce((a, b) => (a === null || (b?.score ?? -Infinity) > (a.score ?? -Infinity) ? b : a), null),
    hereName: heres.length === 0 ? "nothing" : heres.map(label).join(" and "),
    several: heres.length > 1,
    other: rowOf(otherModel),
    otherName: otherModel === null ? "another model" : label(otherModel),
  };
}

/** The models that a verdict takes out, or that are in the way of `other`; all that is loaded when nothing is. */
function inPlace({ reason, evict, resident }: Verdict, other: ModelName | null, { against }: Facts): ModelName[] {
  if (evict.length > 0 && reason !== "unwanted") return [...evict];
  const loaded = resident.map(({ model }) => model);
  const inTheWay = other === null ? [] : (against?.get(other) ?? []).filter((model) => loaded.includes(model));
  if (inTheWay.length > 0) return inTheWay;
  return loaded.length > 0 ? loaded : [...evict];
}

const SHUT_OUT: readonly DecisionReason[] = ["back_off", "paused", "no_room", "blocked"];
const BY_SCORE: readonly DecisionReason[] = ["resident_wins", "min_residency"];

/** The model that a stay keeps waiting: the best score where scores speak, else the longest wait. */
function rival(verdict: Verdict): Scored | null {
  const here = new Set(verdict.resident.map(({ model }) => model));
  const waiting = verdict.models.filter((each) => each.depth > 0 && !here.has(each.model));
  const shutOut = SHUT_OUT.includes(verdict.reason);
  const fitting = waiting.filter((each) => each.eligible !== shutOut);
  const value = (each: Scored): number =>
    BY_SCORE.includes(verdict.reason) ? (each.score ?? Number.NEGATIVE_INFINITY) : each.oldestWaitMs;
  return (fitting.length > 0 ? fitting : waiting).reduce<Scored | null>(
    (best, each) => (best === null || value(each) > value(best) ? each : best),
    null,
  );
}

/** `Swapped a for b: ` or `Loaded b: `. */
function moved({ verdict, hereName, otherName }: Told): string {
  return verdict.evict.length > 0 ? `Swapped ${hereName} for ${otherName}: ` : `Loaded ${otherName}: `;
}

/** `Kept a: `, or `Nothing is loaded: `. */
function kept({ here, hereName }: Told): string {
  return here === null ? "Nothing is loaded: " : `Kept ${hereName}: `;
}

/** ` b waits with 3 jobs, oldest 12 s.`, or nothing. */
function waits({ other, otherName }: Told): string {
  if (other === null || other.depth === 0) return "";
  return ` ${otherName} waits with ${jobs(other.depth)}, oldest ${duration(other.oldestWaitMs)}.`;
}

function residentWins(told: Told): string {
  const { here, hereName, other, otherName, verdict } = told;
  if (here === null || other === null || here.score === null || other.score === null) {
    return `${kept(told)}no other model may take its place yet.${waits(told)}`;
  }
  if (here.depth > 0) {
    const against = `${otherName}'s ${score(other.score)}`;
    if (here.score > other.score) return `Kept ${hereName}: its score ${score(here.score)} beats ${against}.`;
    return `Kept ${hereName}: its score ${score(here.score)} against ${against} is no reason to swap.`;
  }
  const idle = idleMs(verdict, here.model) > 0;
  const cost = other.switchCost > 0 ? `a swap that costs ${score(other.switchCost)}` : "a swap";
  const noun = other.depth === 1 ? "job is" : "jobs are";
  const what = `${otherName}'s ${other.depth}\u00a0${noun} not yet worth ${cost} (score ${score(other.score)})`;
  return `Kept ${hereName}${idle ? ", idle" : ""}: ${what}.`;
}

function ceilingSentence(told: Told): string {
  const { maxWaitMs } = told.facts;
  const limit =
    maxWaitMs === undefined || maxWaitMs === null
      ? "that is past the ceiling"
      : `the ceiling is ${duration(maxWaitMs)}`;
  return `${moved(told)}its oldest job had waited ${duration(told.other?.oldestWaitMs ?? 0)}; ${limit}.`;
}

function challengerWins(told: Told): string {
  const { here, hereName, other } = told;
  if (other === null || other.score === null) return `${moved(told)}it is worth more.`;
  if (here === null || here.score === null) return `${moved(told)}its score ${score(other.score)} was the highest.`;
  return `${moved(told)}its score ${score(other.score)} overtook ${hereName}'s ${score(here.score)}.`;
}

function shutOutSentence(told: Told): string {
  const { verdict, here, hereName, other, otherName } = told;
  if (other === null) {
    const why = here?.whyNot;
    return why === null || why === undefined ? "Waiting." : `${hereName} ${why}; ${jobsWait(here?.depth ?? 0)} for it.`;
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
  resident_unavailable: (told) =>
    `${moved(told)}${told.hereName} ${told.here?.whyNot ?? "cannot be served"}, ${jobs(told.other?.depth ?? 0)} waited.`,
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
  keep_ready: (told) => `${moved(told)}it is to be kept ready, and nothing was loaded.`,
  preload: preloadSentence,
  pinned: (told) =>
    told.verdict.load === null ? `${kept(told)}it is pinned.${waits(told)}` : `${moved(told)}it is pinned.`,
  operator: (told) => `${moved(told)}an operator asked for it.`,
  idle_timeout: ({ hereName, verdict }) => `Unloaded ${hereName}: it had no work for ${duration(idleMs(verdict))}.`,
  unwanted: ({ verdict, label }) => `Gave up loading ${nameOf(verdict.evict[0], label)}: nobody waits for it any more.`,
  yielded: ({ verdict, label }) =>
    `Gave up loading ${nameOf(verdict.evict[0], label)} ahead of need: work came for another model.`,
  removed: ({ hereName }) => `Unloaded ${hereName}: it is no longer configured.`,
  no_work: ({ here, hereName, several }) => {
    if (here === null) return "Idle. Nothing is waiting.";
    return `Idle. ${hereName} ${several ? "are" : "is"} loaded and nothing is waiting.`;
  },
  serving: ({ hereName }) => `Serving ${hereName}: nothing else is waiting.`,
  resident_wins: residentWins,
  min_residency: (told) => `${kept(told)}loaded less than its minimum residency ago.${waits(told)}`,
  serve_first: (told) =>
    `${kept(told)}freshly loaded, and not swapped before it has served at least once.${waits(told)}`,
  forced_swap_spent: (told) =>
    `${kept(told)}brought in by the ceiling, and not taken out by it before its turn is over.${waits(told)}`,
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

function idleMs({ resident, evict }: Verdict, model = evict[0]): number {
  return resident.find((each) => each.model === model)?.idleMs ?? 0;
}

function nameOf(model: ModelName | undefined, label: Labels): string {
  return model === undefined ? "a model" : label(model);
}
