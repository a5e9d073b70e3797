// Looks at a server again and again while something is held there. One look at a time, none while nothing is held.

import type { Clock, Timer } from "../../domain/clock.ts";

export interface Watched {
  /** False: nothing is held, and the looks end until `wake`. */
  needed(): boolean;
  look(): Promise<void>;
}

export class Watch {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #watched: Watched;
  #timer: Timer | null = null;
  #looking = false;
  #closed = false;

  constructor(clock: Clock, everyMs: number, watched: Watched) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#watched = watched;
  }

  /** Something is held now. */
  wake(): void {
    if (this.#timer === null && !this.#looking) this.#arm(this.#everyMs);
  }

  /** Looks at once: something was seen that makes it worth it. */
  now(): void {
    if (!this.#looking) this.#arm(0);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#closed || !this.#watched.needed()) return;
    this.#timer = this.#clock.at(this.#clock.nowMs() + delayMs, () => {
      this.#timer = null;
      this.#looking = true;
      this.#watched.look().then(
        () => this.#looked(),
        () => this.#looked(),
      );
    });
  }

  #looked(): void {
    this.#looking = false;
    this.#arm(this.#everyMs);
  }
}
