// Processor sharing on an injected clock: n shares in flight each run at speed / (1 + alpha x (n - 1)). Exact under
// joins and leaves at any time, driven by events, with one timer for all shares.

import type { Clock, Timer } from "../../domain/clock.ts";

/** `deadline`: the instant came first. `ended`: somebody ended the share; see `Share.reason`. */
export type Reached = "reached" | "deadline" | "ended";
export type EndReason = "aborted" | "engine_gone" | "disconnected";

interface Waiter {
  readonly targetMs: number;
  readonly deadlineAtMs: number;
  readonly resolve: (reached: Reached) => void;
}

/** One run's part of the processor. `doneMs` of work were done at `anchorMs`; both change only when the rate does. */
export interface Share {
  readonly speed: number;
  doneMs: number;
  anchorMs: number;
  waiter: Waiter | null;
  reason: EndReason | null;
}

export class Processor {
  readonly #clock: Clock;
  readonly #alpha: number;
  readonly #shares = new Set<Share>();
  #timer: Timer | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, alpha: number) {
    this.#clock = clock;
    this.#alpha = alpha;
  }

  get inFlight(): number {
    return this.#shares.size;
  }

  /** @param speed 1 is the engine's own pace; below 1 is slower. */
  join(speed = 1): Share {
    this.#rebase();
    const share: Share = { speed, doneMs: 0, anchorMs: this.#clock.nowMs(), waiter: null, reason: null };
    this.#shares.add(share);
    this.#arm();
    return share;
  }

  leave(share: Share): void {
    if (!this.#shares.has(share)) return;
    this.#rebase();
    this.#shares.delete(share);
    this.#arm();
  }

  /** Resolves when `targetMs` of work are done, at the deadline (router time), or when the share is ended. */
  reach(share: Share, targetMs: number, deadlineAtMs: number): Promise<Reached> {
    if (share.reason !== null) return Promise.resolve("ended");
    const nowMs = this.#clock.nowMs();
    if (this.#dueMs(share, targetMs) <= nowMs) return Promise.resolve("reached");
    if (deadlineAtMs <= nowMs) return Promise.resolve("deadline");
    return new Promise((resolve) => {
      share.waiter = { targetMs, deadlineAtMs, resolve };
      this.#arm();
    });
  }

  /** Wakes whoever waits for the share. Its place is kept until it leaves. */
  end(share: Share, reason: EndReason): void {
    if (share.reason !== null) return;
    share.reason = reason;
    const waiter = share.waiter;
    share.waiter = null;
    waiter?.resolve("ended");
    this.#arm();
  }

  endAll(reason: EndReason): void {
    for (const share of [...this.#shares]) this.end(share, reason);
  }

  /** Stops waiting without being reached; the promise stays unresolved. */
  forget(share: Share): void {
    share.waiter = null;
    this.#arm();
  }

  #rate(share: Share): number {
    return share.speed / (1 + this.#alpha * (this.#shares.size - 1));
  }

  #dueMs(share: Share, targetMs: number): number {
    return share.anchorMs + (targetMs - share.doneMs) / this.#rate(share);
  }

  /** Books the work done at the present rate, before the number of shares changes. Not needed when rates never change. */
  #rebase(): void {
    if (this.#alpha === 0) return;
    const nowMs = this.#clock.nowMs();
    for (const share of this.#shares) {
      share.doneMs += (nowMs - share.anchorMs) * this.#rate(share);
      share.anchorMs = nowMs;
    }
  }

  #arm(): void {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const share of this.#shares) {
      if (share.waiter === null) continue;
      nextMs = Math.min(nextMs, this.#dueMs(share, share.waiter.targetMs), share.waiter.deadlineAtMs);
    }
    if (nextMs === this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = nextMs;
    this.#timer = Number.isFinite(nextMs) ? this.#clock.at(nextMs, () => this.#fire()) : null;
  }

  #fire(): void {
    this.#timer = null;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.nowMs();
    for (const share of this.#shares) {
      const waiter = share.waiter;
      if (waiter === null) continue;
      const reached = this.#dueMs(share, waiter.targetMs) <= nowMs;
      if (!reached && waiter.deadlineAtMs > nowMs) continue;
      share.waiter = null;
      waiter.resolve(reached ? "reached" : "deadline");
    }
    this.#arm();
  }
}
