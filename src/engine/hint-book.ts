// The hints in memory, by model and by time, and where each one stands. The store has them too; it is told of changes.

import type { Hint, HintState } from "../domain/hint.ts";
import type { CallerId, HintId, ModelName } from "../domain/ids.ts";

/** Without an end of its own a hint holds for a load and this. */
const NEED_MS = 120_000;
/** What became of a hint can be read for so long. */
const SHOWN_MS = 86_400_000;

/** Router time. */
export interface Window {
  readonly dueAtMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** From when a load for a need at `dueAtMs` is in time. */
export function leadMs(loadMs: number): number {
  return 1.15 * loadMs + 30_000;
}

export class HintBook {
  readonly #hints = new Map<HintId, Hint>();
  readonly #byModel = new Map<ModelName, Hint[]>();

  put(hint: Hint): void {
    this.drop(hint.id);
    this.#hints.set(hint.id, hint);
    const of = [...(this.#byModel.get(hint.model) ?? []), hint];
    this.#byModel.set(
      hint.model,
      of.toSorted((a, b) => a.atMs - b.atMs),
    );
  }

  drop(id: HintId): void {
    const hint = this.#hints.get(id);
    if (hint === undefined) return;
    this.#hints.delete(id);
    const rest = (this.#byModel.get(hint.model) ?? []).filter((each) => each.id !== id);
    if (rest.length === 0) this.#byModel.delete(hint.model);
    else this.#byModel.set(hint.model, rest);
  }

  get(id: HintId): Hint | null {
    return this.#hints.get(id) ?? null;
  }

  /** By time, the earliest first. */
  of(model: ModelName): readonly Hint[] {
    return this.#byModel.get(model) ?? [];
  }

  /** In the order in which they were made. */
  all(caller: CallerId | null): Hint[] {
    const all = [...this.#hints.values()].filter((each) => caller === null || each.caller === caller);
    return all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** @param wallAheadMs How far the wall clock is ahead of router time. */
export function windowOf({ atMs, untilMs }: Hint, loadMs: number, wallAheadMs: number): Window {
  const dueAtMs = atMs - wallAheadMs;
  const endMs = untilMs === null ? dueAtMs + loadMs + NEED_MS : untilMs - wallAheadMs;
  return { dueAtMs, fromMs: dueAtMs - leadMs(loadMs), untilMs: Math.max(endMs, dueAtMs + 1) };
}

export function isOver({ repeat, last }: Hint): boolean {
  return repeat === null && last !== null;
}

export function stateOf(hint: Hint, { fromMs }: Window, nowMs: number): HintState {
  if (isOver(hint)) return hint.last ?? "missed";
  return nowMs >= fromMs ? "due" : "waiting";
}

/** The hint once its time has ended: a daily one is for the next day that is still to come. */
export function ended(hint: Hint, last: "met" | "missed", wallMs: number): Hint {
  if (hint.repeat === null) return { ...hint, last };
  const lengthMs = hint.untilMs === null ? null : hint.untilMs - hint.atMs;
  let atMs = hint.atMs;
  do atMs = nextDay(atMs);
  while (atMs + (lengthMs ?? NEED_MS) <= wallMs);
  return { ...hint, last, atMs, untilMs: lengthMs === null ? null : atMs + lengthMs };
}

/** The same time on the clock on the wall, also where the clocks are changed in between. */
export function nextDay(atMs: number): number {
  const date = new Date(atMs);
  date.setDate(date.getDate() + 1);
  return date.getTime();
}

export function isForgotten(hint: Hint, { untilMs }: Window, nowMs: number): boolean {
  return isOver(hint) && untilMs + SHOWN_MS <= nowMs;
}
