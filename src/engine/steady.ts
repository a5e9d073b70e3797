// Keeps what people read from flickering: an expected instant stays what it was until it has moved by a tenth of the time
// that is left to it.

import type { StartRange } from "./control.ts";

const MOVED_SHARE = 0.1;
const MOVED_MIN_MS = 2_000;

interface Shown {
  readonly lowAtMs: number;
  readonly midAtMs: number;
  readonly highAtMs: number;
}

/** One for each kind of thing that is shown. Keys are models, or devices with a model: as many as are configured. */
export class Steady {
  readonly #shown = new Map<string, Shown>();

  /** @param range How far away it is now; null: it is not known. */
  of(key: string, range: StartRange | null, nowMs: number): Shown | null {
    if (range === null) {
      this.#shown.delete(key);
      return null;
    }
    const fresh = { lowAtMs: nowMs + range.lowMs, midAtMs: nowMs + range.midMs, highAtMs: nowMs + range.highMs };
    const last = this.#shown.get(key);
    if (last !== undefined && !hasMoved(last, fresh, nowMs)) return last;
    this.#shown.set(key, fresh);
    return fresh;
  }
}

/** Whether the new instant is news to somebody who was told the old one. */
export function hasMoved(last: Pick<Shown, "midAtMs">, fresh: Pick<Shown, "midAtMs">, nowMs: number): boolean {
  const leftMs = Math.max(0, last.midAtMs - nowMs);
  return Math.abs(fresh.midAtMs - last.midAtMs) > Math.max(MOVED_MIN_MS, leftMs * MOVED_SHARE);
}
