// Bytes on their way to one caller. The caller's pull sets the pace: a chunk counts as taken when the next one is asked
// for. What waits is bounded in size and in time; past either bound the caller is dropped.

import type { Clock, Timer } from "../domain/clock.ts";

export interface OutflowLimits {
  readonly bufferBytes: number;
  /** Longest time in which nothing at all is taken. */
  readonly stallMs: number;
}

export const OUTFLOW_LIMITS: OutflowLimits = { bufferBytes: 8 * 1024 * 1024, stallMs: 60_000 };

export type Gone = "left" | "stalled" | "overflow";

interface Chunk {
  readonly bytes: Uint8Array;
  readonly taken: () => void;
}

export class Outflow {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #clock: Clock;
  readonly #limits: OutflowLimits;
  readonly #onGone: (why: Gone) => void;
  readonly #hangUp: (() => void) | null;
  readonly #queue: Chunk[] = [];
  #queuedBytes = 0;
  #offered: Chunk | null = null;
  #pulled: (() => void) | null = null;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #stall: Timer | null = null;
  #state: "open" | "ending" | "closed" = "open";
  #onDrained: (() => void) | null = null;

  /**
   * @param onGone Called once when the caller left or was dropped; not after everything was taken.
   * @param hangUp Closes the socket of a caller who is dropped; null when there is none.
   */
  constructor(
    clock: Clock,
    onGone: (why: Gone) => void,
    hangUp: (() => void) | null,
    limits: OutflowLimits = OUTFLOW_LIMITS,
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onGone = onGone;
    this.#hangUp = hangUp;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#close("left"),
      },
      { highWaterMark: 0 },
    );
  }

  /** Resolves when the caller has taken it, or is gone. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#state !== "open" || bytes.length === 0) return Promise.resolve();
    if (this.#queuedBytes + bytes.length > this.#limits.bufferBytes && this.#queue.length > 0) {
      this.#close("overflow");
      return Promise.resolve();
    }
    return new Promise((taken) => {
      this.#queue.push({ bytes, taken });
      this.#queuedBytes += bytes.length;
      if (this.#stall === null) this.#watch();
      this.#offer();
    });
  }

  /** Nothing more comes; `drained` is called when all of it has been taken. */
  end(drained?: () => void): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.#onDrained = drained ?? null;
    this.#offer();
  }

  #pull(): Promise<void> {
    const wanted = new Promise<void>((resolve) => {
      this.#pulled = resolve;
    });
    this.#offered?.taken();
    this.#offered = null;
    this.#watch();
    this.#offer();
    return wanted;
  }

  /** Gives the next chunk, or the end, to a caller who has asked. */
  #offer(): void {
    if (this.#pulled === null || this.#state === "closed") return;
    const next = this.#queue.shift();
    if (next === undefined && this.#state === "open") return;
    this.#pulled();
    this.#pulled = null;
    if (next === undefined) {
      this.#finish();
      return;
    }
    this.#queuedBytes -= next.bytes.length;
    this.#offered = next;
    this.#controller?.enqueue(next.bytes);
  }

  #finish(): void {
    this.#state = "closed";
    this.#stall?.cancel();
    this.#controller?.close();
    this.#onDrained?.();
  }

  /** The stall clock runs while something waits to be taken, and starts anew whenever something is. */
  #watch(): void {
    this.#stall?.cancel();
    this.#stall = null;
    if (this.#offered === null && this.#queue.length === 0) return;
    this.#stall = this.#clock.at(this.#clock.nowMs() + this.#limits.stallMs, () => this.#close("stalled"));
  }

  #close(why: Gone): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#stall?.cancel();
    for (const chunk of [this.#offered, ...this.#queue.splice(0)]) chunk?.taken();
    this.#pulled?.();
    this.#onGone(why);
    if (why === "left") return;
    if (this.#hangUp !== null) this.#hangUp();
    else this.#controller?.error(new Error(`The stream was dropped: ${why}.`));
  }
}
