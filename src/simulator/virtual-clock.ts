// Time that moves only when told to. Everything due at one instant fires before anyone reacts to it, in the order in
// which it was asked for, so that a run depends on nothing but its inputs.

import type { Clock, Timer } from "../domain/clock.ts";

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
  cancelled: boolean;
}

export class VirtualClock implements Clock {
  #nowMs: number;
  #wallOffsetMs = 0;
  #order = 0;
  readonly #heap: Entry[] = [];
  readonly #soon: (() => void)[] = [];

  constructor(startMs = 1_790_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  /** Sets the wall clock forward or back; router time does not notice. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  at(atMs: number, fire: () => void): Timer {
    const entry: Entry = { atMs: Math.max(atMs, this.#nowMs), order: this.#order++, fire, cancelled: false };
    this.#push(entry);
    return {
      cancel: () => {
        entry.cancelled = true;
      },
    };
  }

  /** The instant of the next timer, or null when none is set. */
  nextMs(): number | null {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (!top.cancelled) return top.atMs;
      this.#pop();
    }
    return null;
  }

  soon(fire: () => void): void {
    this.#soon.push(fire);
  }

  /** Lets everything that is ready happen, without moving time. */
  async settle(): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#soon.length === 0) return;
      for (const fire of this.#soon.splice(0)) fire();
    }
  }

  /** Runs timers up to and including `untilMs`, settling after each instant, and ends there. */
  async runUntil(untilMs: number): Promise<void> {
    await this.settle();
    for (let next = this.nextMs(); next !== null && next <= untilMs; next = this.nextMs()) {
      this.#nowMs = Math.max(this.#nowMs, next);
      this.#fireDue();
      await this.settle();
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** Runs until `done()` holds after an instant, or the next timer lies beyond `limitMs`; says which. */
  async runWhile(busy: () => boolean, limitMs: number): Promise<boolean> {
    await this.settle();
    while (busy()) {
      const next = this.nextMs();
      if (next === null || next > limitMs) return false;
      this.#nowMs = Math.max(this.#nowMs, next);
      this.#fireDue();
      await this.settle();
    }
    return true;
  }

  #fireDue(): void {
    for (let next = this.nextMs(); next !== null && next <= this.#nowMs; next = this.nextMs()) {
      this.#pop()?.fire();
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.push(entry) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || before(above, entry)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      let least = left;
      if (right !== undefined && before(right, left)) {
        child++;
        least = right;
      }
      if (before(last, least)) break;
      heap[i] = least;
      i = child;
    }
    heap[i] = last;
    return top;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
