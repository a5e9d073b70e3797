// Keeps what people read from flickering: an expected instant stays what it was until it has moved by a tenth of the time
// that is left to it.

import { hasMoved } from "../domain/estimate.ts";
import type { StartRange } from "./control.ts";

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
    if (last !== undefined && !hasMoved(last.midAtMs, fresh.midAtMs, nowMs)) return last;
    this.#shown.set(key, fresh);
    return fresh;
  }
}
