// The real clock: the only place that reads the time or sets a timer.

import type { Clock, Timer } from "../domain/clock.ts";

/** setTimeout fires at once beyond this; longer waits are taken in steps. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

export class SystemClock implements Clock {
  #baseMs = Date.now() - performance.now();

  nowMs(): number {
    return this.#baseMs + performance.now();
  }

  wallMs(): number {
    return Date.now();
  }

  /** Router time must not fall behind what an earlier run has stored, even if the wall clock was set back between. */
  startAtLeast(atMs: number): void {
    this.#baseMs = Math.max(this.#baseMs, atMs - performance.now());
  }

  at(atMs: number, fire: () => void): Timer {
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = atMs - this.nowMs();
      handle =
        leftMs > LONGEST_TIMEOUT_MS
          ? setTimeout(arm, LONGEST_TIMEOUT_MS)
          : setTimeout(() => (this.nowMs() < atMs ? arm() : fire()), Math.max(0, Math.ceil(leftMs)));
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  }

  soon(fire: () => void): void {
    setImmediate(fire);
  }
}
