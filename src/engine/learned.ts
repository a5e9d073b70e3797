// What was measured instead of configured: how long a model takes to load, by what there is of it already, to unload, and
// how long its jobs run.

import type { Expectation } from "../backends/backend.ts";
import type { LoadTier } from "../domain/event.ts";
import type { DeviceId } from "../domain/ids.ts";
import { type Fields, listIn, numberIn } from "./note.ts";
import { ServiceTime } from "./service-time.ts";

/** Loads of one tier, and unloads, of which the median is taken. */
const KEPT = 5;
const RUN_WEIGHT = 0.2;

export class Learned {
  readonly service: ServiceTime;
  /** What its last load was seen to take of each device that can be asked. Written by memory.ts. */
  readonly memoryGiB = new Map<DeviceId, number>();
  readonly #guessMs: number;
  readonly #loadsMs = new Map<LoadTier, Recent>();
  readonly #unloadsMs = new Recent();
  readonly #unloadGuessMs: number;
  #runMs: number | null = null;

  /** @param guessMs The configured load time. @param expected What the driver knows. */
  constructor(guessMs: number, expected: Expectation = {}) {
    this.#guessMs = guessMs;
    this.#unloadGuessMs = expected.unloadMs ?? 0;
    this.service = new ServiceTime(expected);
  }

  /**
   * Median of the last five loads of that tier that succeeded. Before the first: of the nearest dearer tier that is
   * known, else the configured guess.
   */
  loadMs(tier: LoadTier = "cold"): number {
    for (const each of DEARER[tier]) {
      const known = this.#loadsMs.get(each);
      if (known !== undefined) return known.median ?? this.#guessMs;
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
    const kept = this.#loadsMs.get(tier) ?? new Recent();
    kept.add(tookMs);
    this.#loadsMs.set(tier, kept);
  }

  /** Median of the last five that gave the memory back. */
  get unloadMs(): number {
    return this.#unloadsMs.median ?? this.#unloadGuessMs;
  }

  unloaded(tookMs: number): void {
    this.#unloadsMs.add(tookMs);
  }

  ran(tookMs: number): void {
    this.#runMs = this.#runMs === null ? tookMs : this.#runMs + RUN_WEIGHT * (tookMs - this.#runMs);
  }

  /** What no row tells: loads have rows, and memory is noted beside the claim that it is compared with. */
  noted(): object {
    return { runMs: this.#runMs, unloadsMs: this.#unloadsMs.values, service: this.service.noted() };
  }

  recall({ runMs, unloadsMs, service }: Fields): void {
    this.#runMs = numberIn(runMs);
    for (const tookMs of listIn(unloadsMs)) this.#unloadsMs.add(tookMs);
    this.service.recall(service);
  }
}

const DEARER: Readonly<Record<LoadTier, readonly LoadTier[]>> = {
  wake: ["wake", "warm", "cold"],
  warm: ["warm", "cold"],
  cold: ["cold"],
  download: ["download"],
};

/** The last few of a measurement; the median is asked for at each decision and worked out at each measurement. */
class Recent {
  readonly #values: number[] = [];
  #median: number | null = null;

  /** The lower of two middle ones; null before the first. */
  get median(): number | null {
    return this.#median;
  }

  /** Oldest first. */
  get values(): readonly number[] {
    return this.#values;
  }

  add(value: number): void {
    this.#values.push(value);
    if (this.#values.length > KEPT) this.#values.shift();
    const sorted = this.#values.toSorted((a, b) => a - b);
    this.#median = sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
  }
}
