// A sum over the last hour in sixty numbers, however much happens. It forgets by whole minutes: what it says is true of
// the last 59 to 60 minutes.

import { numbersIn } from "./note.ts";

const MINUTE_MS = 60_000;
const MINUTES = 60;

export class MinuteRing {
  readonly #sums = new Float64Array(MINUTES);
  #minute: number;

  constructor(nowMs: number) {
    this.#minute = minuteOf(nowMs);
  }

  add(atMs: number, amount: number): void {
    this.#advance(atMs);
    const minute = minuteOf(atMs);
    if (minute > this.#minute - MINUTES) this.#sums[minute % MINUTES] = (this.#sums[minute % MINUTES] ?? 0) + amount;
  }

  /** Its ms are added to the minutes they lie in. */
  addSpan(fromMs: number, toMs: number): void {
    this.#advance(toMs);
    const oldestMs = (this.#minute - MINUTES + 1) * MINUTE_MS;
    for (let atMs = Math.max(fromMs, oldestMs); atMs < toMs; ) {
      const endMs = Math.min(toMs, (minuteOf(atMs) + 1) * MINUTE_MS);
      this.add(atMs, endMs - atMs);
      atMs = endMs;
    }
  }

  sum(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sums.reduce((sum, each) => sum + each, 0);
  }

  /** Sums by the number of their minute. */
  noted(): object {
    const minutes = Array.from({ length: MINUTES }, (_, age) => this.#minute - MINUTES + 1 + age);
    const sums = minutes.map((minute) => [minute, this.#sums[minute % MINUTES] ?? 0] as const);
    return Object.fromEntries(sums.filter(([, sum]) => sum !== 0));
  }

  /** What is older than an hour, or not over yet, is passed over. */
  recall(note: unknown): void {
    for (const [minute, sum] of numbersIn(note)) {
      if (Number(minute) <= this.#minute && sum > 0) this.add(Number(minute) * MINUTE_MS, sum);
    }
  }

  #advance(nowMs: number): void {
    const minute = minuteOf(nowMs);
    for (let past = Math.max(this.#minute + 1, minute - MINUTES + 1); past <= minute; past++)
      this.#sums[past % MINUTES] = 0;
    this.#minute = Math.max(this.#minute, minute);
  }
}

/** How much of the time up to now the sums are about. */
export function coveredMs(nowMs: number, startedAtMs: number): number {
  return Math.min(nowMs - startedAtMs, (MINUTES - 1) * MINUTE_MS + (nowMs % MINUTE_MS));
}

function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}
