// What failed loads of one model lead to: growing back-off, then quarantine with a half-open probe. Pure state; the
// healthy model is protected by the scheduler, which never chooses a model before its `retryAtMs`.

const BACK_OFF_FIRST_MS = 5_000;
const BACK_OFF_MAX_MS = 300_000;
const QUARANTINE_FIRST_MS = 120_000;
const QUARANTINE_MAX_MS = 3_600_000;

export class Breaker {
  readonly #maxFailures: number;
  #failuresInRow = 0;
  #failures = 0;
  #retryAtMs = 0;
  #lastError: string | null = null;

  constructor(maxFailures: number) {
    this.#maxFailures = maxFailures;
  }

  /** Failed loads in this router's life; a job remembers it at acceptance. */
  get failures(): number {
    return this.#failures;
  }

  get failuresInRow(): number {
    return this.#failuresInRow;
  }

  /** Not to be loaded before; 0 when it may. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  get broken(): boolean {
    return this.#failuresInRow >= this.#maxFailures;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** 5 s, 10 s, … up to 5 min; from `maxFailures` in a row on 2 min, 4 min, … up to an hour. */
  failed(nowMs: number, error: string): void {
    this.#failures++;
    this.#failuresInRow++;
    this.#lastError = error;
    const beyond = this.#failuresInRow - this.#maxFailures;
    const delayMs =
      beyond < 0
        ? Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (this.#failuresInRow - 1))
        : Math.min(QUARANTINE_MAX_MS, QUARANTINE_FIRST_MS * 2 ** beyond);
    this.#retryAtMs = nowMs + delayMs;
  }

  /** Broken at once, whatever came before. */
  trip(nowMs: number, error: string): void {
    this.#failuresInRow = Math.max(this.#failuresInRow, this.#maxFailures - 1);
    this.failed(nowMs, error);
  }

  succeeded(): void {
    this.reset();
  }

  /** An operator's load, or a changed configuration: as if it had never failed. */
  reset(): void {
    this.#failuresInRow = 0;
    this.#retryAtMs = 0;
    this.#lastError = null;
  }
}
