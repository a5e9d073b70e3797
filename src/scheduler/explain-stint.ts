// The sentences of `stint`: what was weighed against what, in the numbers that the rule compared.

import { duration, jobs, score } from "./wording.ts";

/** What the sentences are made of. `lead` is `Swapped a for b: ` or `Kept a: `. */
export interface StintTold {
  readonly lead: string;
  readonly here: string;
  readonly other: string;
  /** Jobs that wait for the other model. */
  readonly depth: number;
  readonly numbers: Readonly<Record<string, number>>;
  readonly spend: { readonly beforeMs: number; readonly afterMs: number } | null;
}

export const STINT_SENTENCES = {
  free: (told: StintTold) =>
    `${told.lead}nothing is queued for ${told.here}, and ${jobs(told.depth)} waited${holdPrice(told, "reached")}.`,
  worth: (told: StintTold) =>
    `${told.lead}saves ${of(told, "saves")} > costs ${of(told, "costs")}${trip(told)}${spent(told)}.`,
  visit: (told: StintTold) =>
    `${told.lead}it waited ${time(told, "waited_seconds")} without a visit; the limit is ${time(told, "limit_seconds")}.`,
  deadline: (told: StintTold) =>
    `${told.lead}a job of it is due in ${time(told, "due_in_seconds")}, and it can only just be met${trip(told)}${spent(told)}.`,
  not_worth: (told: StintTold) =>
    `${told.lead}${told.other} saves ${of(told, "saves")} < costs ${of(told, "costs")}${trip(told)}.`,
  budget: (told: StintTold) =>
    `${told.lead}${told.other} would be worth it, but cutting in costs ${time(told, "need_seconds")} of loading and the budget has ${time(told, "budget_seconds")} of ${time(told, "budget_limit_seconds")}; enough in ${time(told, "again_seconds")}.`,
  likely_needed: (told: StintTold) =>
    `${told.lead}likely to be needed again soon, and ${jobs(told.depth)} of ${told.other} can wait${holdPrice(told, "not reached")}${again(told)}.`,
  quantum: (told: StintTold) =>
    `${told.lead}${told.other} is due for a visit, but the turn of ${told.here} lasts another ${time(told, "again_seconds")}.`,
} as const;

const of = ({ numbers }: StintTold, name: string): string => score(numbers[name] ?? 0);
const time = ({ numbers }: StintTold, name: string): string => duration((numbers[name] ?? 0) * 1_000);

/** ` (load 110 s + back 35 s)`. */
function trip(told: StintTold): string {
  const there = told.numbers["load_seconds"];
  if (there === undefined) return "";
  const back = told.numbers["back_seconds"] ?? 0;
  return ` (load ${duration(there * 1_000)}${back > 0 ? ` + back ${duration(back * 1_000)}` : ""})`;
}

function spent({ spend }: StintTold): string {
  return spend === null ? "" : `; budget ${duration(spend.beforeMs)} → ${duration(spend.afterMs)}`;
}

/** `, hold price 96 reached (debt 126)`. */
function holdPrice(told: StintTold, verb: string): string {
  const { price, debt } = told.numbers;
  return price === undefined || debt === undefined ? "" : `: debt ${score(debt)}, hold price ${score(price)} ${verb}`;
}

function again(told: StintTold): string {
  return told.numbers["again_seconds"] === undefined ? "" : `; decide again in ${time(told, "again_seconds")}`;
}
