// The causes of a wait in words: what people call each, what happened, and what would change it. Page, API and command
// line print these and no others.

import type { LoadTier } from "../domain/event.ts";
import type { LabelOf, Part, PartWords, StretchDetail, Subject } from "../domain/life.ts";
import type { Cause } from "../domain/wait.ts";
import { duration, jobs, quantity, thousands } from "../scheduler/wording.ts";
import { HOLD_WORDS, type Tense, was } from "./hold-words.ts";

export interface CauseWords {
  readonly title: string;
  /** When it holds, for reference pages. */
  readonly when: string;
  /** Configuration keys, commands or facts that would change it; empty: nothing would. Those of `held` go by its rule. */
  readonly levers: readonly string[];
}

export const CAUSE_WORDS: Readonly<Record<Cause, CauseWords>> = {
  router_down: {
    title: "SIR was not running",
    when: "No router had the store: from the last sign of life of one to the start of the next.",
    levers: ["running `sir serve` under a supervisor that starts it again"],
  },
  running: {
    title: "Running",
    when: "An attempt is on a slot of its model, and no other had to follow it.",
    levers: ["a shorter request", "a faster engine"],
  },
  lost_attempt: {
    title: "A run that was lost",
    when: "An attempt was on a slot, and another had to follow: the engine or the router went away, or it failed.",
    levers: ["sir models logs", "scheduler.drainSeconds"],
  },
  paused: {
    title: "Paused by an operator",
    when: "An operator had paused the router, the device or the model.",
    levers: ["sir resume"],
  },
  retry_backoff: {
    title: "Waiting for its next try",
    when: "An attempt had ended badly, and the next was put off.",
    levers: ["sir models logs"],
  },
  model_broken: {
    title: "Model failed to load",
    when: "The model's last load failed, or its engine did not answer; it is tried again after a while.",
    levers: ["sir models logs", "sir models load", "models.*.loadTimeoutSeconds", "models.*.maxLoadFailures"],
  },
  loading: {
    title: "Loading its model",
    when: "The model was on its way into the device's memory.",
    levers: ["models.*.preload", "models.*.pinned", "scheduler.preloading"],
  },
  unloading: {
    title: "Unloading another model",
    when: "What had to go was stopping, or its memory was not free yet.",
    levers: ["devices.*.memoryGiB", "models.*.memoryGiB"],
  },
  draining: {
    title: "Another model's jobs were finishing",
    when: "A swap was decided, and what had to go still ran jobs.",
    levers: ["scheduler.drainSeconds"],
  },
  own_queue: {
    title: "Behind jobs of its own model",
    when: "Its model was loaded and stayed, and every slot was taken by other jobs.",
    levers: ["models.*.concurrency", "scheduler.replicas", "a higher priority"],
  },
  share_limit: {
    title: "Its caller was at a limit",
    when: "A slot was free, and its caller had as many jobs running as it may.",
    levers: ["a higher limit for its caller"],
  },
  held: {
    title: "GPU held by another model",
    when: "Its model was not loaded, and nothing moved towards it; the rule says why.",
    levers: [],
  },
  dispatch: {
    title: "Being started",
    when: "None of the above: it was being claimed and handed to the engine.",
    levers: [],
  },
};

/** What a load does, by what there was of the model already. */
const TIERS: Readonly<Record<LoadTier, string>> = {
  download: "being downloaded and loaded",
  cold: "loading from disk",
  warm: "loading from the page cache",
  wake: "waking up",
};

/** Of a model that was unloaded for being idle, when its next job came. */
const IDLE_LEVERS = ["models.*.unloadAfterSeconds", "models.*.pinned"] as const;

/** Engines' and operators' own words, cut to so much. */
const QUOTE_MAX = 160;

/** @param policy That of the decisions; null: only what holds under any policy is named as a lever. */
export function partWords(part: Part, label: LabelOf, policy: string | null = null): PartWords {
  const title = part.cause === "held" ? titleOfHeld(part) : CAUSE_WORDS[part.cause].title;
  return { title, text: phraseOf(part, label, "past", part.stretches), levers: leversOf(part, label, policy) };
}

/** What happened, or happens, without a full stop: `gpt-oss-120b outscored this model`. */
export function phraseOf(
  stretch: Subject & { readonly detail: StretchDetail },
  label: LabelOf,
  tense: Tense,
  times = 1,
): string {
  const { cause, detail } = stretch;
  const by = stretch.by === null ? "another model" : label(stretch.by);
  switch (cause) {
    case "router_down":
      return `SIR ${was(tense)} not running`;
    case "running":
      return `the engine ${tense === "past" ? "worked" : "works"} on it${answerWords(detail)}`;
    case "lost_attempt":
      return lostWords(detail, times);
    case "paused":
      return pausedWords(stretch, tense);
    case "retry_backoff":
      return `${attemptWords(detail)} had ended badly${because(detail.outcome)} and the next ${was(tense)} put off`;
    case "model_broken":
      return brokenWords(detail, tense);
    case "loading":
      return `the model ${was(tense)} ${detail.tier === undefined ? "loading" : TIERS[detail.tier]}`;
    case "unloading":
      return `${by} ${was(tense)} stopping`;
    case "draining":
      return drainingWords(by, detail.running, tense);
    case "own_queue":
      return ownQueueWords(detail.wentFirst, tense);
    case "share_limit":
      return limitWords(detail.limit, tense);
    case "held":
      return heldWords(stretch, by, tense) + byHandWords(stretch);
    case "dispatch":
      return `it ${was(tense)} being started`;
  }
}

function titleOfHeld({ rule, by }: Subject): string {
  if (rule === "no_room") return HOLD_WORDS.no_room.title;
  if (rule === "own_move") return HOLD_WORDS.own_move.title;
  return by === null ? "GPU not free for it" : CAUSE_WORDS.held.title;
}

type Stay = Subject & { readonly detail: StretchDetail };

function heldWords({ rule, by: holder, detail }: Stay, by: string, tense: Tense): string {
  if (rule === null) return `${by} ${tense === "past" ? "had" : "has"} the device`;
  if (rule === "own_move" && holder === null) return `this model itself ${was(tense)} being unloaded`;
  if (rule === "no_room" && holder === null) return `there ${was(tense)} no room for this model on the device`;
  if (rule === "switching_other" && detail.goes === true) return `the device ${was(tense)} busy taking out ${by}`;
  return HOLD_WORDS[rule].phrase(by, tense);
}

/** Of what an operator asked for: `, as ada asked`. */
function byHandWords({ rule, detail }: Subject & { readonly detail: StretchDetail }): string {
  if (detail.who === undefined) return "";
  return rule === "pinned" ? ` by ${operatorName(detail.who)}` : `, as ${operatorName(detail.who)} asked`;
}

function operatorName(who: string | null | undefined): string {
  return who === undefined || who === null || who === "" || who === "local" ? "an operator" : who;
}

function leversOf({ cause, rule, by, device, detail }: Part, label: LabelOf, policy: string | null): readonly string[] {
  if (cause === "paused") return [resumeLine(device, detail)];
  if (cause !== "held" || rule === null) return CAUSE_WORDS[cause].levers;
  if (rule === "own_move" && by === null) return detail.who === undefined ? IDLE_LEVERS : [];
  const { levers, ofPolicy = {} } = HOLD_WORDS[rule];
  const named = levers.map((each) => (each === "sir models unpin" && by !== null ? `${each} ${label(by)}` : each));
  return [...named, ...(policy === null ? [] : (ofPolicy[policy] ?? []))];
}

function resumeLine(device: string | null, { scope }: StretchDetail): string {
  if (scope === "model") return "sir models load";
  return scope === "device" && device !== null ? `sir resume --device ${device}` : "sir resume";
}

function pausedWords({ device, detail }: Subject & { readonly detail: StretchDetail }, tense: Tense): string {
  const { scope = "router", who, note } = detail;
  const what = { router: "SIR", device: device ?? "the device", model: "this model" }[scope];
  const name = operatorName(who);
  const words = quoted(note);
  return `${name} ${tense === "past" ? "had" : "has"} paused ${what}${words === "" ? "" : ` ("${words}")`}`;
}

function brokenWords({ error }: StretchDetail, tense: Tense): string {
  const words = errorLine(error);
  if (words === "") return `the model's engine ${was(tense)} not fit to serve and the next try ${was(tense)} put off`;
  return `the model ${tense === "past" ? "had" : "has"} failed to load (${words}) and the next try ${was(tense)} put off`;
}

function drainingWords(by: string, running: number | undefined, tense: Tense): string {
  const were = tense === "past" ? "were" : "are";
  if (running === undefined || running < 1) return `what ${by} ran ${was(tense)} finishing`;
  return `${quantity(running, "running job")} of ${by} ${running === 1 ? was(tense) : were} finishing`;
}

/** `: 0.8 s to the first byte of its answer, 5.2 s from then on`. */
function answerWords({ answer }: StretchDetail): string {
  if (answer === undefined) return "";
  if (!answer.begun) return ": no byte of its answer has come yet";
  return `: ${duration(answer.firstTokenMs)} to the first byte of its answer, ${duration(answer.generatingMs)} from then on`;
}

function ownQueueWords(wentFirst: StretchDetail["wentFirst"], tense: Tense): string {
  if (wentFirst === undefined) return `other jobs of its own model ${tense === "past" ? "took" : "take"} every slot`;
  const { jobs: count, higher } = wentFirst;
  if (count === 0) return `jobs of its own model that ran already ${tense === "past" ? "took" : "take"} every slot`;
  const of = count === 1 ? "in a higher band" : `${thousands(higher)} of them in a higher band`;
  const went = `${jobs(count)} of its own model went first${higher > 0 ? ` (${of})` : ""}`;
  return `every slot ${was(tense)} taken and ${went}`;
}

function limitWords(limit: number | undefined, tense: Tense): string {
  return `its caller ${was(tense)} at its limit${limit === undefined ? "" : ` of ${jobs(limit)} at once`}`;
}

function lostWords({ attempt, outcome }: StretchDetail, times: number): string {
  const words = errorLine(outcome?.replace(/^lost: /, ""));
  const why = words === "" ? "" : ` (${words})`;
  if (times > 1) return `${quantity(times, "run")} were lost${words === "" ? "" : ` (the longest: ${words})`}`;
  return `run\u00a0${attempt ?? 1} was lost${why}`;
}

function attemptWords({ attempt }: StretchDetail): string {
  return attempt === undefined ? "an attempt" : `attempt\u00a0${attempt}`;
}

function because(outcome: string | undefined): string {
  const words = errorLine(outcome);
  return words === "" ? "" : ` (${words})`;
}

/** An error with an engine's log behind it: what was said of it, and the log's last line. */
export function errorLine(text: string | null | undefined): string {
  const lines = (text ?? "")
    .split(/\r?\n/)
    .map(quoted)
    .filter((line) => line !== "");
  const [first = "", last = first] = [lines[0], lines.at(-1)];
  return last.includes(first) || first.includes(last) ? first : `${first}: ${last}`;
}

/** Somebody else's words inside a sentence of ours: one line, no full stop at the end, not too long. */
export function quoted(text: string | null | undefined): string {
  const line = (text ?? "")
    .replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .replaceAll('"', "'")
    .trim()
    .replace(/[.\u2026;:,\s]+$/, "");
  const cut = [...line];
  return cut.length > QUOTE_MAX ? `${cut.slice(0, QUOTE_MAX).join("").trimEnd()}\u2026` : line;
}
