// When a model's work begins after a pause, and how much of it comes while a load would run. O(1) per arrival.

import type { ModelName } from "../domain/ids.ts";
import type { SessionStart } from "../domain/journal.ts";

/** A pause is longer than this, and than the model's load. */
const LEAST_PAUSE_MS = 120_000;
/** Share of the newest session in the moving average. */
const NEWEST = 0.3;

interface OpenSession {
  readonly startedAtMs: number;
  weight: number;
}

export class SessionMeter {
  readonly #model: ModelName;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #burst: number | null = null;
  #open: OpenSession | null = null;

  constructor(model: ModelName) {
    this.#model = model;
  }

  /** Summed weight of the jobs that usually come within one load of a start; 0 before the first. */
  get burst(): number {
    return this.#burst ?? this.#open?.weight ?? 0;
  }

  /** What is known of a session of an earlier router, oldest first. */
  remember({ startedAtMs, weight }: SessionStart): void {
    this.#lastAtMs = startedAtMs;
    this.#average(weight);
  }

  /** A job came. What is to be written down: the session that it begins, and the one before, now that its weight is known. */
  arrived(atMs: number, weight: number, loadMs: number): { readonly began: boolean; readonly log: SessionStart[] } {
    const began = atMs - this.#lastAtMs > Math.max(LEAST_PAUSE_MS, loadMs);
    this.#lastAtMs = Math.max(this.#lastAtMs, atMs);
    const log: SessionStart[] = [];
    if (this.#open !== null && (began || atMs - this.#open.startedAtMs > loadMs)) {
      this.#average(this.#open.weight);
      log.push({ model: this.#model, ...this.#open });
      this.#open = null;
    }
    if (began) {
      this.#open = { startedAtMs: atMs, weight };
      log.push({ model: this.#model, startedAtMs: atMs, weight });
    } else if (this.#open !== null) this.#open.weight += weight;
    return { began, log };
  }

  #average(weight: number): void {
    this.#burst = this.#burst === null ? weight : (1 - NEWEST) * this.#burst + NEWEST * weight;
  }
}
