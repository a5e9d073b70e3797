// What the scheduler is told of the past, kept up to date in O(1) per event: how often jobs come, how busy a device was,
// and how much work was done for jobs that shared an engine. Nothing here decides.

import { BANDS, type Band } from "../domain/band.ts";
import type { QueueCause } from "../domain/wait.ts";
import type { BusyShare, Decayed } from "../scheduler/snapshot.ts";
import { fieldsIn, numberIn } from "./note.ts";

/** Where the policy names none. */
export const RATE_HALF_LIFE_MS = 600_000;
/** Time constant of the busy share. */
const BUSY_MS = 1_800_000;

/** Arrivals of one model by band, each counting half after every half-life. */
export class ArrivalMeter {
  readonly #counts: Record<Band, Decayed> = { interactive: NONE, normal: NONE, batch: NONE };
  #lastAtMs: number | null = null;
  /** Accepted up to then, and counted by an earlier router. */
  #countedUntilMs = Number.NEGATIVE_INFINITY;
  readonly #totals: Record<Band, number> = { interactive: 0, normal: 0, batch: 0 };

  /** In any order: after a restart jobs come back with the instants at which they were accepted. */
  arrived(band: Band, atMs: number, halfLifeMs: number): void {
    this.#totals[band]++;
    if (atMs <= this.#countedUntilMs) return;
    const { value, atMs: asOfMs } = this.#counts[band];
    const half = (forMs: number): number => 0.5 ** (forMs / halfLifeMs);
    this.#counts[band] =
      atMs >= asOfMs
        ? { value: value * half(atMs - asOfMs) + 1, atMs }
        : { value: value + half(asOfMs - atMs), atMs: asOfMs };
    this.#lastAtMs = Math.max(this.#lastAtMs ?? atMs, atMs);
  }

  of(band: Band): Decayed {
    return this.#counts[band];
  }

  /** How many came, in this router's life. */
  total(band: Band): number {
    return this.#totals[band];
  }

  /** Null: none yet. */
  get lastAtMs(): number | null {
    return this.#lastAtMs;
  }

  noted(): object {
    return { lastAtMs: this.#lastAtMs, ...this.#counts };
  }

  /** Before the jobs come back that were queued then: of those, only what came after the note is counted again. */
  recall(note: unknown): void {
    const fields = fieldsIn(note);
    const lastAtMs = numberIn(fields["lastAtMs"]);
    if (lastAtMs === null) return;
    for (const band of BANDS) {
      const { value, atMs } = fieldsIn(fields[band]);
      this.#counts[band] = { value: numberIn(value) ?? 0, atMs: numberIn(atMs) ?? 0 };
    }
    this.#lastAtMs = lastAtMs;
    this.#countedUntilMs = lastAtMs;
  }
}

const NONE: Decayed = { value: 0, atMs: 0 };

/** The share of the last half hour in which there was work. */
export class BusyMeter {
  #share = 0;
  #atMs: number;
  #busy = false;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** What was true since the last sample is counted, and `busy` holds from now on. */
  sample(busy: boolean, nowMs: number): void {
    const kept = Math.exp(-(nowMs - this.#atMs) / BUSY_MS);
    this.#share = this.#share * kept + (this.#busy ? 1 - kept : 0);
    this.#atMs = nowMs;
    this.#busy = busy;
  }

  /** As it was when that was noted; nothing was done since. Null: nothing is known. */
  recall(share: number | null, atMs: number | null): void {
    if (share === null || atMs === null) return;
    this.#share = Math.min(1, Math.max(0, share));
    this.#atMs = Math.min(this.#atMs, atMs);
    this.#busy = false;
  }

  get view(): BusyShare {
    return { share: this.#share, atMs: this.#atMs, busy: this.#busy };
  }
}

/** Where a job stood on its engine's meter when it started. */
export interface WorkMark {
  readonly workMs: number;
  /** Other jobs in flight. */
  readonly company: number;
}

/**
 * How much work each of n jobs in flight gets: n share an engine, and each runs at 1 / (1 + slowdown x (n - 1)). The
 * difference of two readings is what a job that ran between them would have taken alone.
 */
export class WorkMeter {
  #workMs = 0;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Before `inFlight` changes. */
  advance(inFlight: number, slowdownPerJob: number, nowMs: number): void {
    const forMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    if (inFlight === 0) return;
    this.#workMs += forMs / (1 + slowdownPerJob * (inFlight - 1));
  }

  get workMs(): number {
    return this.#workMs;
  }
}

/** Sums over a model's queued jobs, by band. */
export type PerBand = Readonly<Record<Band, number>>;

export const perBand = (of: (band: Band) => number): PerBand =>
  Object.fromEntries(BANDS.map((band) => [band, of(band)])) as Record<Band, number>;

/** How long jobs of one model waited, summed over the jobs, by what their queue waited for. Sampled at each pass. */
export class CauseMeter {
  readonly #jobMs = new Map<QueueCause, number>();
  #cause: QueueCause | null = null;
  #jobs = 0;
  #sinceMs = 0;

  /** What holds from now on. */
  sample(cause: QueueCause | null, jobs: number, nowMs: number): void {
    this.until(nowMs);
    this.#cause = cause;
    this.#jobs = jobs;
  }

  /** In job-milliseconds up to now; a cause that never held is absent. */
  until(nowMs: number): ReadonlyMap<QueueCause, number> {
    if (this.#cause !== null && nowMs > this.#sinceMs) {
      const addedMs = this.#jobs * (nowMs - this.#sinceMs);
      this.#jobMs.set(this.#cause, (this.#jobMs.get(this.#cause) ?? 0) + addedMs);
    }
    this.#sinceMs = nowMs;
    return this.#jobMs;
  }
}
