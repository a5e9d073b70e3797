// What loads ahead of need have cost and brought: a budget for each device, the loads whose use is still open, and
// whether their source may go on. Two sources: hints, and what was learned of arrivals.

import type { PreloadTerms } from "../domain/decision.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import { budgetAt, type PreloadBudget } from "../scheduler/forecast.ts";
import { TrackRecord } from "../scheduler/track-record.ts";
import { fieldsIn, numberIn } from "./note.ts";
import type { PreloadSettings } from "./settings.ts";

export type PreloadGroup = "hint" | "learned";
export type PreloadSource = PreloadTerms["source"];

export const groupOf = (source: PreloadSource): PreloadGroup => (source === "hint" ? "hint" : "learned");

/** A source is stopped for so long ... */
const PAUSE_MS = 12 * 3_600_000;
/** ... when of at least so many of its last loads ... */
const LEAST_LOADS = 8;
/** ... fewer than this share were used. */
const LEAST_SHARE = 0.4;

interface Pending {
  readonly model: ModelName;
  readonly source: PreloadSource;
  /** No second load for the same need. */
  readonly untilMs: number;
  /** Used when a job comes before. */
  readonly neededByMs: number;
}

export interface PreloadOutcome {
  readonly model: ModelName;
  readonly source: PreloadSource;
  readonly outcome: "hit" | "miss";
}

export class PreloadLedger {
  readonly #budgets = new Map<DeviceId, { leftMs: number; atMs: number }>();
  readonly #pending = new Map<ModelName, Pending>();
  readonly #spentUntilMs = new Map<ModelName, number>();
  readonly #records: Readonly<Record<PreloadGroup, TrackRecord>> = {
    hint: new TrackRecord(),
    learned: new TrackRecord(),
  };
  readonly #pausedUntilMs: Record<PreloadGroup, number> = { hint: 0, learned: 0 };

  /** A device that was never asked for starts with half of what it may have at most. */
  budgetOf(device: DeviceId, { share, mostMs, price }: PreloadSettings, nowMs: number): PreloadBudget {
    let left = this.#budgets.get(device);
    if (left === undefined) {
      left = { leftMs: mostMs / 2, atMs: nowMs };
      this.#budgets.set(device, left);
    }
    return { ...left, share, mostMs, price };
  }

  /** @param untilMs Of the need it is loaded for. */
  began(device: DeviceId, terms: PreloadTerms, untilMs: number, neededByMs: number, settings: PreloadSettings): void {
    const { model, source } = terms;
    const nowMs = terms.dueAtMs - terms.dueInMs;
    const leftMs = budgetAt(this.budgetOf(device, settings, nowMs), nowMs) - terms.loadMs;
    this.#budgets.set(device, { leftMs, atMs: nowMs });
    this.#pending.set(model, { model, source, untilMs, neededByMs });
    if (source === "hint") this.#spentUntilMs.set(model, untilMs);
  }

  /** A job came for the model. @param isHere It is loaded, or on its way. */
  arrived(model: ModelName, isHere: boolean, nowMs: number): PreloadOutcome[] {
    const pending = this.#pending.get(model);
    return pending === undefined ? [] : [this.#settle(pending, isHere ? "hit" : "miss", nowMs)];
  }

  /** Other work came before it was loaded: it was in vain, and may be tried again. */
  calledOff(model: ModelName, nowMs: number): PreloadOutcome[] {
    this.#spentUntilMs.delete(model);
    const pending = this.#pending.get(model);
    return pending === undefined ? [] : [this.#settle(pending, "miss", nowMs)];
  }

  passed(nowMs: number): PreloadOutcome[] {
    for (const [model, untilMs] of this.#spentUntilMs) if (untilMs <= nowMs) this.#spentUntilMs.delete(model);
    const over = [...this.#pending.values()].filter(({ neededByMs }) => neededByMs <= nowMs);
    return over.map((each) => this.#settle(each, "miss", nowMs));
  }

  /** The source may load this model from here on. */
  actsFromMs(model: ModelName, group: PreloadGroup): number {
    return Math.max(this.#pausedUntilMs[group], this.#spentUntilMs.get(model) ?? 0);
  }

  statusOf(group: PreloadGroup, nowMs: number): { hits: number; misses: number; pausedUntilMs: number | null } {
    const { hits, count } = this.#records[group];
    const untilMs = this.#pausedUntilMs[group];
    return { hits, misses: count - hits, pausedUntilMs: untilMs > nowMs ? untilMs : null };
  }

  /** Loads whose use is still open are not among it: the models went with their router, through no fault of the source. */
  noted(): object {
    const { hint, learned } = this.#records;
    const records = { hint: hint.outcomes, learned: learned.outcomes };
    return { budgets: Object.fromEntries(this.#budgets), records, pausedUntilMs: this.#pausedUntilMs };
  }

  recall(note: unknown): void {
    const { budgets, records, pausedUntilMs } = fieldsIn(note);
    for (const [device, budget] of Object.entries(fieldsIn(budgets))) {
      const { leftMs, atMs } = fieldsIn(budget);
      const [left, at] = [numberIn(leftMs), numberIn(atMs)];
      if (left !== null && at !== null) this.#budgets.set(device as DeviceId, { leftMs: left, atMs: at });
    }
    for (const group of ["hint", "learned"] as const) {
      const outcomes = fieldsIn(records)[group];
      for (const each of Array.isArray(outcomes) ? outcomes : []) this.#records[group].note(each === true);
      this.#pausedUntilMs[group] = numberIn(fieldsIn(pausedUntilMs)[group]) ?? 0;
    }
  }

  #settle({ model, source }: Pending, outcome: "hit" | "miss", nowMs: number): PreloadOutcome {
    this.#pending.delete(model);
    const group = groupOf(source);
    const record = this.#records[group];
    record.note(outcome === "hit");
    if (record.count >= LEAST_LOADS && !record.reaches(LEAST_LOADS, LEAST_SHARE)) {
      this.#pausedUntilMs[group] = nowMs + PAUSE_MS;
      record.clear();
    }
    return { model, source, outcome };
  }
}
