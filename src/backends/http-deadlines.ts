// The three limits on one upstream call (first byte, silence between bytes, whole run), on the injected clock. One timer
// at a time, moved only when it fires or when the limit comes nearer, so that a byte costs no timer.

import type { Clock, Timer } from "../domain/clock.ts";
import type { Call } from "./backend.ts";

type Phase = "first_byte" | "idle" | "blocked" | "error_body";

/** How long the body of an error answer may take. */
const ERROR_BODY_MS = 5000;

export class Deadlines {
  readonly #clock: Clock;
  readonly #call: Call;
  readonly #startMs: number;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #forward = (): void => this.#controller.abort();
  #phase: Phase = "first_byte";
  /** Of the last byte, or of the beginning of the present phase. */
  #sinceMs: number;
  #timer: Timer | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #expired: string | null = null;

  constructor(clock: Clock, call: Call, caller: AbortSignal) {
    this.#clock = clock;
    this.#call = call;
    this.#caller = caller;
    this.#startMs = clock.nowMs();
    this.#sinceMs = this.#startMs;
    if (caller.aborted) this.#controller.abort();
    caller.addEventListener("abort", this.#forward, { once: true });
    this.#arm();
  }

  /** Aborted by the caller or by a limit. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Which limit was passed, in words; null when none was. */
  get expired(): string | null {
    return this.#expired;
  }

  /** A byte of the answer came, or the caller has room again. */
  heard(): void {
    this.#enter(this.#phase === "error_body" ? "error_body" : "idle");
  }

  /** The caller takes no more for now; the engine's silence is not its fault. */
  blocked(): void {
    this.#enter("blocked");
  }

  /** What follows is an error's body, which nobody needs to the end. */
  errorBody(): void {
    this.#enter("error_body");
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#caller.removeEventListener("abort", this.#forward);
  }

  #enter(phase: Phase): void {
    if (!(phase === "error_body" && this.#phase === "error_body")) this.#sinceMs = this.#clock.nowMs();
    this.#phase = phase;
    if (this.#dueMs() < this.#timerAtMs) this.#arm();
  }

  #limitMs(): number {
    if (this.#phase === "first_byte") return this.#call.firstByteTimeoutMs;
    if (this.#phase === "idle") return this.#call.idleTimeoutMs;
    return this.#phase === "error_body" ? ERROR_BODY_MS : Number.POSITIVE_INFINITY;
  }

  #dueMs(): number {
    return Math.min(this.#sinceMs + this.#limitMs(), this.#startMs + this.#call.runTimeoutMs);
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timerAtMs = this.#dueMs();
    this.#timer = Number.isFinite(this.#timerAtMs) ? this.#clock.at(this.#timerAtMs, () => this.#fire()) : null;
  }

  #fire(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#dueMs()) {
      this.#arm();
      return;
    }
    this.#expired = this.#overdue(nowMs);
    this.#controller.abort();
  }

  #overdue(nowMs: number): string {
    if (nowMs >= this.#startMs + this.#call.runTimeoutMs)
      return `not finished after ${this.#call.runTimeoutMs / 1000} s`;
    const limit = `${this.#limitMs() / 1000} s`;
    return this.#phase === "first_byte" ? `no byte of an answer after ${limit}` : `no further byte for ${limit}`;
  }
}
