// What each minute was: how many jobs waited at most, how many began and ended, and how long those took. Counted as it goes
// by, in O(1) per event and O(models) per pass; one write a minute, and none for minutes in which nothing was.

import { BANDS, type Band } from "../domain/band.ts";
import type { Clock, Timer } from "../domain/clock.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { ModelName } from "../domain/ids.ts";
import type { Minute } from "../domain/minute.ts";
import type { ModelEntry } from "./state.ts";

const MINUTE_MS = 60_000;

interface Tally {
  /** As of the last pass. */
  queued: number;
  queuedMax: number;
  started: number;
  finished: number;
  failed: number;
  waitMs: number;
  runMs: number;
}

type Tallies = Record<Band, Tally>;

export class Minutes {
  readonly #clock: Clock;
  readonly #write: (minutes: readonly Minute[]) => void;
  readonly #models = new Map<ModelName, Tallies>();
  readonly #all = fresh();
  #atMs: number;
  #timer: Timer | null = null;

  constructor(clock: Clock, write: (minutes: readonly Minute[]) => void) {
    this.#clock = clock;
    this.#write = write;
    this.#atMs = minuteOf(clock.nowMs());
  }

  hear(event: RouterEvent): void {
    if (event.type !== "job.dispatched" && event.type !== "job.finished") return;
    this.#turn();
    for (const tallies of [this.#of(event.model), this.#all]) {
      const tally = tallies[event.band];
      if (event.type === "job.dispatched") {
        tally.started++;
        continue;
      }
      tally.finished++;
      if (event.status === "failed") tally.failed++;
      tally.waitMs += event.waitMs;
      tally.runMs += event.runMs;
    }
    this.#arm();
  }

  /** After a pass: what still waits. */
  sample(entries: Iterable<ModelEntry>): void {
    this.#turn();
    const sums: Record<Band, number> = { interactive: 0, normal: 0, batch: 0 };
    for (const { spec, queue } of entries) {
      if (queue.size === 0 && !this.#models.has(spec.name)) continue;
      const tallies = this.#of(spec.name);
      for (const band of BANDS) {
        const { depth } = queue.band(band);
        sums[band] += depth;
        note(tallies[band], depth);
      }
    }
    for (const band of BANDS) note(this.#all[band], sums[band]);
    if (BANDS.some((band) => sums[band] > 0)) this.#arm();
  }

  /** The minute that runs, of all models together. */
  running(): Minute[] {
    this.#turn();
    return rowsOf(null, this.#all, this.#atMs);
  }

  /** What was counted so far, also before the minute is over. */
  flush(): void {
    const minutes = [...this.#models].flatMap(([model, tallies]) => rowsOf(model, tallies, this.#atMs));
    minutes.push(...rowsOf(null, this.#all, this.#atMs));
    for (const tallies of [...this.#models.values(), this.#all]) for (const band of BANDS) begin(tallies[band]);
    if (minutes.length > 0) this.#write(minutes);
  }

  #turn(): void {
    const atMs = minuteOf(this.#clock.nowMs());
    if (atMs === this.#atMs) return;
    this.flush();
    this.#atMs = atMs;
    // A model that nothing waits for need not be kept.
    for (const [model, tallies] of this.#models)
      if (BANDS.every((band) => tallies[band].queued === 0)) this.#models.delete(model);
  }

  /** The minute is written when it is over, and what waits on is counted in the next one too. */
  #arm(): void {
    this.#timer ??= this.#clock.at(this.#atMs + MINUTE_MS, () => {
      this.#timer = null;
      this.#turn();
      if (BANDS.some((band) => this.#all[band].queued > 0)) this.#arm();
    });
  }

  #of(model: ModelName): Tallies {
    const found = this.#models.get(model) ?? fresh();
    this.#models.set(model, found);
    return found;
  }
}

const minuteOf = (atMs: number): number => Math.floor(atMs / MINUTE_MS) * MINUTE_MS;

function fresh(): Tallies {
  const tally = (): Tally => ({ queued: 0, queuedMax: 0, started: 0, finished: 0, failed: 0, waitMs: 0, runMs: 0 });
  return { interactive: tally(), normal: tally(), batch: tally() };
}

function note(tally: Tally, queued: number): void {
  tally.queued = queued;
  tally.queuedMax = Math.max(tally.queuedMax, queued);
}

function begin(tally: Tally): void {
  Object.assign(tally, { queuedMax: tally.queued, started: 0, finished: 0, failed: 0, waitMs: 0, runMs: 0 });
}

function rowsOf(model: ModelName | null, tallies: Tallies, atMs: number): Minute[] {
  return BANDS.flatMap((band): Minute[] => {
    const { queued: _, waitMs, runMs, ...counts } = tallies[band];
    if (counts.queuedMax + counts.started + counts.finished === 0) return [];
    return [{ ...counts, atMs, model, band, waitMs: Math.round(waitMs), runMs: Math.round(runMs) }];
  });
}
