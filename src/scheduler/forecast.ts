// What is known of a model's future: when it is expected to be needed, how sure that is, and how much comes then. Made
// by the engine from hints and from the rhythm of arrivals; read by preload.ts.

import type { HintId } from "../domain/ids.ts";

/** Who says so: a caller, a steady interval of sessions, or the same time of day. */
export type ForecastSource = "hint" | "cron" | "daily";

export interface Expectation {
  readonly source: ForecastSource;
  /** When the model should be ready. */
  readonly dueAtMs: number;
  /** The need is likely from here ... */
  readonly fromMs: number;
  /** ... to here (excluded): as long a load is worth while. */
  readonly untilMs: number;
  /** Above 0, at most 1. */
  readonly probability: number;
  /** No load for it before; `Infinity` while its source is only watched. */
  readonly actsFromMs: number;
  readonly hint: HintId | null;
}

export interface Forecast {
  /** Summed weight of the jobs that come while a load would run. */
  readonly burst: number;
  readonly expected: readonly Expectation[];
}

/** What one device may spend on loads that nobody has asked for yet. */
export interface PreloadBudget {
  /** Left at `atMs`; it grows by `share` of the time that passes, up to `mostMs`. */
  readonly leftMs: number;
  readonly atMs: number;
  readonly share: number;
  readonly mostMs: number;
  /** A second of load costs so many weighted seconds of waiting. */
  readonly price: number;
}

export function budgetAt({ leftMs, atMs, share, mostMs }: PreloadBudget, nowMs: number): number {
  return Math.min(mostMs, leftMs + share * Math.max(0, nowMs - atMs));
}

/** The likeliest need that is open at `atMs`, of those that may cause a load or of all; null when there is none. */
export function openAt(
  forecast: Forecast | null | undefined,
  atMs: number,
  which: "acting" | "all" = "all",
): Expectation | null {
  let likeliest: Expectation | null = null;
  for (const each of forecast?.expected ?? []) {
    if (atMs < each.fromMs || atMs >= each.untilMs || (which === "acting" && atMs < each.actsFromMs)) continue;
    if (likeliest === null || each.probability > likeliest.probability) likeliest = each;
  }
  return likeliest;
}
