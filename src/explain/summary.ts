// The sentence on top of an explanation: how the wait went and ended, what most of it was for, what put an end to that,
// and what the swap itself cost. Made from the parts, so that its numbers are those of the table below it.

import type { Decision, DecisionReason } from "../domain/decision.ts";
import type { CancelReason, Job } from "../domain/job.ts";
import type { LabelOf, Life, Part, Summary } from "../domain/life.ts";
import { duration, percent } from "../scheduler/wording.ts";
import { errorLine, phraseOf } from "./causes.ts";
import { timeOfDay } from "./time-of-day.ts";
import { tryLine } from "./try-line.ts";

/** Shorter parts are not spoken of. */
const SPOKEN_MS = 2_000;
/** A second part is named from this share of the wait on. */
const SECOND_SHARE = 0.2;
/** Below this share of all that its model was held, the longest hold is not the whole story. */
const MAIN_SHARE = 0.7;
/** Of a wait, what is as good as all of it. */
const ALL_SHARE = 0.9;
const SWAP = ["draining", "unloading", "loading"] as const;

/** @returns A text of one to four sentences; quantities hold no-break spaces. */
export function summaryOf(life: Life, label: LabelOf): Summary {
  const waits = life.parts
    .filter(({ cause, ms }) => cause !== "running" && ms >= SPOKEN_MS)
    .toSorted((a, b) => b.ms - a.ms);
  const lead = leadOf(life);
  const holds = waits.filter(({ cause }) => cause === "held");
  const heldMs = sumOf(holds);
  const [longest] = waits;
  if (longest === undefined || life.waitMs < SPOKEN_MS) return { text: lead.text, code: lead.code, try: null };
  // Several rules in turn are one story where they make up the most of it.
  const [top = longest] = heldMs >= longest.ms ? holds : [];
  const scattered = top.cause === "held" && holds.length > 1 && top.ms < heldMs * MAIN_SHARE;
  const second = waits.find((each) => (scattered ? each.cause !== "held" : each !== top));
  const cause = top.rule === null ? top.cause : `${top.cause}.${top.rule}`;
  const command = tryLine(life, top);
  if (life.job.state.status === "queued") return { text: waitingWords(life, top, label), code: cause, try: command };
  const end = top.cause === "held" ? endOf(life, top, label) : null;
  const why = scattered ? holdsOf(life, holds, label, end?.text ?? "") : whyOf(life, top, label, end?.text ?? "");
  const sentences = [lead.text, why, secondOf(life, top, second, label), costOf(life, top)];
  return {
    text: sentences.filter((each) => each !== null).join(" "),
    code: end === null ? cause : `${cause}.until_${end.code}`,
    try: command,
  };
}

/** Of a job that waits: what holds now comes first, then what most of the wait was for. */
function waitingWords(life: Life, top: Part, label: LabelOf): string {
  const lead = `Waiting for ${duration(life.waitMs)} so far`;
  const last = life.stretches.at(-1);
  if (last === undefined || last.cause === "running") return `${lead}. ${whyOf(life, top, label, "")}`;
  const now = phraseOf(last, label, "present");
  if (last.cause !== top.cause || last.rule !== top.rule || last.by !== top.by) {
    return `${lead}. Now ${now}. ${whyOf(life, top, label, "")}`;
  }
  if (isAll(life.waitMs, top.ms)) return `${lead}: ${now}.`;
  return `${lead}. Now ${now}: ${duration(top.ms)} of that (${percent(top.ms / life.waitMs)}).`;
}

interface Said {
  readonly text: string;
  readonly code: string;
}

function leadOf(life: Life): Said {
  const { job, waitMs, runMs } = life;
  const { state } = job;
  const waited = duration(waitMs);
  const atOnce = waitMs < SPOKEN_MS;
  const ran = duration(runMs);
  switch (state.status) {
    case "queued":
      return { text: `Waiting for ${waited} so far.`, code: "waiting" };
    case "running":
      if (atOnce) return { text: `Started at once and has run ${ran} so far.`, code: "started_at_once" };
      return { text: `Waited ${waited} and has run ${ran} so far.`, code: "running" };
    case "succeeded":
      if (atOnce) return { text: `Started at once and ran ${ran}.`, code: "started_at_once" };
      return { text: `Waited ${waited}, then ran ${ran}.`, code: "waited_ran" };
    case "failed":
      return { text: failedWords(life, waited, ran, errorLine(state.error.message)), code: "failed" };
    case "cancelled":
      return { text: cancelledWords(life, waited, ran, state.reason), code: `cancelled.${state.reason}` };
    case "expired":
      return { text: expiredWords(job, waited), code: "expired" };
  }
}

function failedWords({ waitMs, runMs }: Life, waited: string, ran: string, error: string): string {
  const why = error === "" ? "" : `: ${error}`;
  if (runMs === 0)
    return waitMs < SPOKEN_MS ? `Failed at once${why}.` : `Waited ${waited}, never started and failed${why}.`;
  if (waitMs < SPOKEN_MS) return `Started at once and failed after ${ran}${why}.`;
  return `Waited ${waited}, then failed after running ${ran}${why}.`;
}

const CANCELLED: Readonly<Record<CancelReason, string>> = {
  client: "its caller cancelled it",
  lease_expired: "nobody polled it before its lease ran out",
  deadline: "its deadline passed while it ran",
  admin: "an operator cancelled it",
  disconnect: "the connection that waited for it ended",
};

function cancelledWords({ waitMs, runMs }: Life, waited: string, ran: string, reason: CancelReason): string {
  const why = runMs === 0 && reason === "deadline" ? "its deadline passed" : CANCELLED[reason];
  if (runMs === 0) return `Waited ${waited} and never started: ${why}.`;
  if (waitMs < SPOKEN_MS) return `Started at once and was cancelled after ${ran}: ${why}.`;
  return `Waited ${waited} and was cancelled after running ${ran}: ${why}.`;
}

function expiredWords({ deadlineAtMs, acceptedAtMs }: Job, waited: string): string {
  const of = deadlineAtMs === null ? "" : ` of ${duration(deadlineAtMs - acceptedAtMs)}`;
  return `Waited ${waited} and never started: its deadline${of} passed.`;
}

function whyOf({ waitMs }: Life, top: Part, label: LabelOf, end: string): string {
  const share = top.ms / waitMs;
  const phrase = phraseOf(top, label, "past", top.stretches);
  if (isAll(waitMs, top.ms)) return `All that time ${phrase}${end}.`;
  return `For ${duration(top.ms)} of that (${percent(share)}), ${phrase}${end}.`;
}

/** `For 20 s of that (56 %), the device was held from it: a outscored this model (10 s) and ... (9.7 s).` */
function holdsOf({ waitMs }: Life, holds: readonly Part[], label: LabelOf, end: string): string {
  const heldMs = sumOf(holds);
  const [most, next] = holds;
  const told = [most, next].flatMap((each) =>
    each === undefined ? [] : [`${phraseOf(each, label, "past", each.stretches)} (${duration(each.ms)})`],
  );
  const lead = isAll(waitMs, heldMs)
    ? "All that time"
    : `For ${duration(heldMs)} of that (${percent(heldMs / waitMs)}),`;
  const rest = holds.length > 2 ? ", among other things" : "";
  return `${lead} the device was not free for it: ${told.join(", and ")}${rest}${end}.`;
}

/** What is left of the wait would not be spoken of, and is little beside it. */
function isAll(waitMs: number, ms: number): boolean {
  return waitMs - ms < SPOKEN_MS && ms >= ALL_SHARE * waitMs;
}

function sumOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { ms }) => sum + ms, 0);
}

function secondOf({ waitMs }: Life, top: Part, second: Part | undefined, label: LabelOf): string | null {
  if (second === undefined || second.ms / waitMs < SECOND_SHARE) return null;
  // What a swap took is said in one sum.
  if (isSwap(second) && !isSwap(top)) return null;
  return `For another ${duration(second.ms)}, ${phraseOf(second, label, "past", second.stretches)}.`;
}

function costOf({ parts }: Life, top: Part): string | null {
  const swap = parts.filter(isSwap);
  const costMs = sumOf(swap);
  if (costMs < SPOKEN_MS || (isSwap(top) && costMs - top.ms < SPOKEN_MS)) return null;
  if (swap.every(({ cause }) => cause === "loading")) return `Loading its model took ${duration(costMs)}.`;
  return `The swap itself cost ${duration(costMs)}.`;
}

function isSwap({ cause }: Part): boolean {
  return SWAP.some((each) => each === cause);
}

function endOf({ moved, job }: Life, { by }: Part, label: LabelOf): Said | null {
  if (moved === null) return null;
  const ended = ENDS[moved.reason];
  if (ended === undefined) return null;
  const holder = by === null ? "the other model" : label(by);
  const at = timeOfDay(moved.wallMs, job.createdAtMs);
  return { text: `, until ${ended.words(holder, moved)} at ${at}`, code: ended.code };
}

interface End {
  readonly code: string;
  words(holder: string, moved: Decision): string;
}

const NO_WORK: End = { code: "idle", words: (holder) => `${holder} ran out of work` };
const TURN: End = { code: "turn", words: () => "this model's turn came" };
const WORTH: End = { code: "worth", words: () => "the swap was worth its loads" };
const FITS: End = { code: "fits", words: () => "there was room for this model" };

/** What put an end to a hold, by the reason of the decision that did. */
export const ENDS: Readonly<Partial<Record<DecisionReason, End>>> = {
  ceiling: { code: "ceiling", words: (_, moved) => `the ${ceilingOf(moved)}ceiling forced the swap` },
  challenger_wins: { code: "overtook", words: (holder) => `this model's score overtook that of ${holder}` },
  resident_idle: NO_WORK,
  free: NO_WORK,
  resident_unavailable: { code: "unavailable", words: (holder) => `${holder} could not be served` },
  longest_queue: { code: "longest", words: () => "this model's queue was the longest" },
  arrival_order: TURN,
  worth: WORTH,
  visit: { code: "visit", words: () => "this model was due for a visit" },
  deadline: { code: "deadline", words: () => "a deadline could only just be met" },
  cold: FITS,
  fits: FITS,
  operator: { code: "operator", words: () => "an operator asked for this model" },
  pinned: { code: "pinned", words: () => "this model was pinned" },
  preload: { code: "preload", words: () => "this model was loaded ahead of need" },
  keep_ready: { code: "keep_ready", words: () => "this model was loaded to be kept ready" },
  restore: { code: "restore", words: () => "this model was brought back" },
};

function ceilingOf({ numbers }: Decision): string {
  const seconds = numbers?.["ceiling_seconds"];
  return seconds === undefined ? "" : `${duration(seconds * 1_000)} `;
}
