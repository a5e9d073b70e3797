// How far estimates were off, so that the next one can say between what the truth will lie, instead of pretending.

/** Outcomes kept, of which the quantiles are taken; below `ENOUGH` nothing is said. */
const KEPT = 200;
const ENOUGH = 20;
/**
 * Of what is known already; of what comes next eight of ten lie between, because it resembles its neighbours more than it does
 * the last 200 (docs/explanation/estimates.md).
 */
const LOW = 0.05;
const HIGH = 0.95;

export interface Spread {
  /** Factors on an estimate: nine of ten recorded ones came out between `low` and `high`, half of them below `mid`. */
  readonly low: number;
  readonly mid: number;
  readonly high: number;
  /** Outcomes behind it. */
  readonly observations: number;
}

/** Outcomes of one kind of estimate, the newest 200. */
export class Calibration {
  readonly #ratios: number[] = [];
  #next = 0;
  #spread: Spread | null = null;

  /** Both in ms, from the estimate to the answer. */
  record(estimatedMs: number, actualMs: number): void {
    this.#ratios[this.#next] = actualMs / Math.max(1, estimatedMs);
    this.#next = (this.#next + 1) % KEPT;
    this.#spread = null;
  }

  /** Oldest first; four digits tell as much as an estimate can. */
  noted(): number[] {
    const ordered = [...this.#ratios.slice(this.#next), ...this.#ratios.slice(0, this.#next)];
    return ordered.map((ratio) => Number(ratio.toPrecision(4)));
  }

  recall(ratios: readonly number[]): void {
    for (const ratio of ratios) if (ratio >= 0) this.record(1, ratio);
  }

  /** Null below 20 outcomes. */
  spread(): Spread | null {
    const observations = this.#ratios.length;
    if (observations < ENOUGH) return null;
    if (this.#spread === null) {
      const sorted = this.#ratios.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.round(share * (observations - 1))] ?? 1;
      this.#spread = { low: at(LOW), mid: at(0.5), high: at(HIGH), observations };
    }
    return this.#spread;
  }
}
