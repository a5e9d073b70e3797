// Randomness that is the same each time: one 32-bit seed, sfc32 behind splitmix32, and the distributions that arrivals
// and faults are drawn from. Streams forked by name do not disturb each other, so adding a draw here moves nothing there.

import type { Clock } from "../domain/clock.ts";
import { type IdPrefix, type IdSource, uuidV7Hex } from "../domain/ids.ts";

export interface Seeded {
  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number;
  /** From `from` (included) to `to` (excluded). */
  uniform(from: number, to: number): number;
  /** A whole number, both ends included. */
  integer(from: number, to: number): number;
  chance(probability: number): boolean;
  /** The gap to the next arrival of a Poisson process; above 0. */
  exponential(mean: number): number;
  /** How many arrivals fall into an interval that has `mean` on average. Costs O(mean). */
  poisson(mean: number): number;
  /** Log-normal with this mean and coefficient of variation. */
  logNormal(mean: number, variation: number): number;
  pick<T>(list: readonly T[]): T;
  /** An independent stream; the same name gives the same stream. */
  fork(name: string): Seeded;
}

export function createSeeded(seed: number): Seeded {
  const uint32 = sfc32(seed);
  const unit = (): number => uint32() / 4_294_967_296;
  const exponential = (mean: number): number => -Math.log(1 - unit()) * mean;
  return {
    uint32,
    uniform: (from, to) => from + unit() * (to - from),
    integer: (from, to) => from + Math.floor(unit() * (to - from + 1)),
    chance: (probability) => unit() < probability,
    exponential,
    poisson: (mean) => {
      let count = 0;
      for (let sum = exponential(1); sum < mean; sum += exponential(1)) count++;
      return count;
    },
    logNormal: (mean, variation) => {
      const variance = Math.log(1 + variation * variation);
      const normal = Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
      return Math.exp(Math.log(mean) - variance / 2 + Math.sqrt(variance) * normal);
    },
    pick: (list) => {
      const found = list[Math.floor(unit() * list.length)];
      if (found === undefined) throw new RangeError("nothing to pick from: the list is empty");
      return found;
    },
    fork: (name) => createSeeded(seed ^ hash32(name)),
  };
}

/** Ids of the same shape as the live ones, the same for the same seed, sorted by the clock's time. */
export function createSimulatedIds(clock: Pick<Clock, "nowMs">, seed: number): IdSource {
  const seeded = createSeeded(seed).fork("ids");
  const random = new Uint8Array(8);
  const words = new DataView(random.buffer);
  let lastMs = -1;
  let counter = 0;
  const next = (prefix: IdPrefix): string => {
    const nowMs = Math.floor(clock.nowMs());
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = 0;
    } else if (++counter > 0xfff) {
      lastMs++;
      counter = 0;
    }
    words.setUint32(0, seeded.uint32());
    words.setUint32(4, seeded.uint32());
    return `${prefix}_${uuidV7Hex(lastMs, counter, random)}`;
  };
  return { next } as IdSource;
}

/** Chris Doty-Humphrey's sfc32: 128 bits of state, period at least 2^32, passes PractRand. */
function sfc32(seed: number): () => number {
  let mixed = seed | 0;
  const word = (): number => {
    mixed = (mixed + 0x9e3779b9) | 0;
    let z = mixed ^ (mixed >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let a = word();
  let b = word();
  let c = word();
  let count = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** FNV-1a. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0;
}
