// A verdict taken apart for its sentence: what is in place, what comes or waits, and what people call both.

import type { DecisionReason, Scored, Verdict } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import { duration, jobs, listed } from "./wording.ts";

/** What people call a model. */
export type Labels = (model: ModelName) => string;

/** Numbers that a sentence names when they are known. */
export interface Facts {
  readonly maxWaitMs?: number | null;
  readonly minResidencyMs?: number | null;
  /** For each model that waits, those that would have to go for it. */
  readonly against?: ReadonlyMap<ModelName, readonly ModelName[]>;
}

/** A verdict taken apart for its sentence. */
export interface Told {
  readonly verdict: Verdict;
  readonly label: Labels;
  readonly facts: Facts;
  /** What goes, or is in the way of what waits; of several the one with the highest score; null: nothing. */
  readonly here: Scored | null;
  readonly hereName: string;
  /** Of `here` alone. */
  readonly bestName: string;
  readonly several: boolean;
  /** What is brought in, or what waits. */
  readonly other: Scored | null;
  readonly otherName: string;
}

export function tell(verdict: Verdict, label: Labels, facts: Facts): Told {
  const otherModel = verdict.load ?? verdict.about ?? rival(verdict)?.model ?? null;
  const rowOf = (model: ModelName | null): Scored | null => verdict.models.find((each) => each.model === model) ?? null;
  const heres = inPlace(verdict, otherModel, facts);
  const here = heres
    .map(rowOf)
    .reduce((a, b) => (a === null || (b?.score ?? -Infinity) > (a.score ?? -Infinity) ? b : a), null);
  return {
    verdict,
    label,
    facts,
    here,
    hereName: heres.length === 0 ? "nothing" : listed(heres.map(label)),
    bestName: here === null ? "nothing" : label(here.model),
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
export function moved({ verdict, hereName, otherName }: Told): string {
  return verdict.evict.length > 0 ? `Swapped ${hereName} for ${otherName}: ` : `Loaded ${otherName}: `;
}

/** `Kept a: `, or `Nothing is loaded: `. */
export function kept({ here, hereName }: Told): string {
  return here === null ? "Nothing is loaded: " : `Kept ${hereName}: `;
}

/** What is true of one of those that are kept: `itself` of one alone. */
export function ofOne({ several }: Told, itself: string, oneOfThem: string): string {
  return several ? `one of them ${oneOfThem}` : itself;
}

/** ` b waits with 3 jobs, oldest 12 s.`, or nothing. */
export function waits({ other, otherName }: Told): string {
  if (other === null || other.depth === 0) return "";
  return ` ${otherName} waits with ${jobs(other.depth)}, oldest ${duration(other.oldestWaitMs)}.`;
}

export function idleMs({ resident, evict }: Verdict, model = evict[0]): number {
  return resident.find((each) => each.model === model)?.idleMs ?? 0;
}

export function nameOf(model: ModelName | undefined, label: Labels): string {
  return model === undefined ? "a model" : label(model);
}
