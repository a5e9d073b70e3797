// What was measured instead of configured: how long a model takes to load, by what there is of it already, and how long
// its jobs run.

import type { LoadTier } from "../domain/event.ts";

const LOADS_KEPT = 5;
const RUN_WEIGHT = 0.2;

export class Learned {
  readonly #guessMs: number;
  readonly #loadsMs = new Map<LoadTier, number[]>();
  #runMs: number | null = null;

  constructor(guessMs: number) {
    this.#guessMs = guessMs;
  }

  /**
   * Median of the last five loads of that tier that succeeded. Before the first: of the nearest dearer tier that is
   * known, else the configured guess.
   */
  loadMs(tier: LoadTier = "cold"): number {
    for (const each of DEARER[tier]) {
      const known = median(this.#loadsMs.get(each) ?? []);
      if (known !== null) return known;
    }
    return this.#guessMs;
  }

  get everLoaded(): boolean {
    return this.#loadsMs.size > 0;
  }

  /** Moving average of successful runs, from dispatch to end; null before the first. */
  get runMs(): number | null {
    return this.#runMs;
  }

  loaded(tookMs: number, tier: LoadTier = "cold"): void {
    const kept = this.#loadsMs.get(tier) ?? [];
    kept.push(tookMs);
    if (kept.length > LOADS_KEPT) kept.shift();
    this.#loadsMs.set(tier, kept);
  }

  ran(tookMs: number): void {
    this.#runMs = this.#runMs === null ? tookMs : this.#runMs + RUN_WEIGHT * (tookMs - this.#runMs);
  }
}

const DEARER: Readonly<Record<LoadTier, readonly LoadTier[]>> = {
  wake: ["wake", "warm", "cold"],
  warm: ["warm", "cold"],
  cold: ["cold"],
  download: ["download"],
};

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
