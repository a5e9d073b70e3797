// The real clock: the only place that reads the time or sets a timer.

import type { Clock, Timer } from "../domain/clock.ts";

/** setTimeout fires at once beyond this; longer waits are taken in steps. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

export class SystemClock implements Clock {
  #baseMs = Date.now() - performance.now();
  readonly #armed = new Set<Timer>();

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
    const timer: Timer = {
      cancel: () => {
        clearTimeout(handle);
        this.#armed.delete(timer);
      },
    };
    const due = (): void => {
      if (this.nowMs() < atMs) {
        arm();
        return;
      }
      this.#armed.delete(timer);
      fire();
    };
    const arm = (): void => {
      const leftMs = atMs - this.nowMs();
      handle =
        leftMs > LONGEST_TIMEOUT_MS
          ? setTimeout(arm, LONGEST_TIMEOUT_MS)
          : setTimeout(due, Math.max(0, Math.ceil(leftMs)));
    };
    arm();
    this.#armed.add(timer);
    return timer;
  }

  /** Whoever set a timer is gone: none of them keeps the process alive any longer. */
  stop(): void {
    for (const timer of [...this.#armed]) timer.cancel();
  }

  soon(fire: () => void): void {
    setImmediate(fire);
  }
}
