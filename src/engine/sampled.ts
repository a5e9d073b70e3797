// The newest measurements of something with their instants, of which quantiles are asked: a bounded sample of the last
// hour.

const KEPT = 256;
const HOUR_MS = 3_600_000;
/** Quantiles are worked out anew at most so often, unless something was added. */
const FRESH_MS = 5_000;

export class Sampled {
  readonly #atMs = new Float64Array(KEPT);
  readonly #values = new Float64Array(KEPT);
  #count = 0;
  #sorted: Float64Array | null = null;
  #sortedAtMs = 0;

  add(atMs: number, value: number): void {
    this.#atMs[this.#count % KEPT] = atMs;
    this.#values[this.#count % KEPT] = value;
    this.#count++;
    this.#sorted = null;
  }

  /** @param share 0 to 1. Null where there are fewer than `enough`. */
  quantile(share: number, nowMs: number, enough = 1): number | null {
    const sorted = this.#recent(nowMs);
    if (sorted.length < enough) return null;
    return sorted[Math.round(share * (sorted.length - 1))] ?? null;
  }

  #recent(nowMs: number): Float64Array {
    if (this.#sorted === null || nowMs - this.#sortedAtMs > FRESH_MS) {
      const kept = this.#values.subarray(0, Math.min(this.#count, KEPT));
      this.#sorted = kept.filter((_, i) => (this.#atMs[i] ?? 0) > nowMs - HOUR_MS).sort();
      this.#sortedAtMs = nowMs;
    }
    return this.#sorted;
  }
}
