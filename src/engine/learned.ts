// What was measured instead of configured: how long a model takes to load and how long its jobs run.

const LOADS_KEPT = 5;
const RUN_WEIGHT = 0.2;

export class Learned {
  readonly #guessMs: number;
  readonly #loadsMs: number[] = [];
  #runMs: number | null = null;

  constructor(guessMs: number) {
    this.#guessMs = guessMs;
  }

  /** Median of the last five loads that succeeded; the configured guess before the first. */
  get loadMs(): number {
    if (this.#loadsMs.length === 0) return this.#guessMs;
    const sorted = this.#loadsMs.toSorted((a, b) => a - b);
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? this.#guessMs;
  }

  get everLoaded(): boolean {
    return this.#loadsMs.length > 0;
  }

  /** Moving average of successful runs, from dispatch to end; null before the first. */
  get runMs(): number | null {
    return this.#runMs;
  }

  loaded(tookMs: number): void {
    this.#loadsMs.push(tookMs);
    if (this.#loadsMs.length > LOADS_KEPT) this.#loadsMs.shift();
  }

  ran(tookMs: number): void {
    this.#runMs = this.#runMs === null ? tookMs : this.#runMs + RUN_WEIGHT * (tookMs - this.#runMs);
  }
}
