// Processor sharing on an injected clock: n shares in flight each run at speed / (1 + alpha x (n - 1)). Exact under
// joins and leaves at any time, driven by events, with one timer for all shares. Engines that share a GPU share its
// compute: n is then everything in flight there, and alpha the mean of theirs.

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
  readonly alpha: number;
  doneMs: number;
  anchorMs: number;
  waiter: Waiter | null;
  reason: EndReason | null;
}

/** One engine's part of a GPU's compute; its own GPU unless one is given. */
export class Processor {
  readonly #compute: Compute;
  readonly #alpha: number;
  readonly #own = new Set<Share>();

  constructor(clock: Clock, alpha: number, compute = new Compute(clock)) {
    this.#compute = compute;
    this.#alpha = alpha;
  }

  get inFlight(): number {
    return this.#own.size;
  }

  /** @param speed 1 is the engine's own pace; below 1 is slower. */
  join(speed = 1): Share {
    const share = this.#compute.join(speed, this.#alpha);
    this.#own.add(share);
    return share;
  }

  leave(share: Share): void {
    this.#own.delete(share);
    this.#compute.leave(share);
  }

  /** Resolves when `targetMs` of work are done, at the deadline (router time), or when the share is ended. */
  reach(share: Share, targetMs: number, deadlineAtMs: number): Promise<Reached> {
    return this.#compute.reach(share, targetMs, deadlineAtMs);
  }

  /** Wakes whoever waits for the share. Its place is kept until it leaves. */
  end(share: Share, reason: EndReason): void {
    this.#compute.end(share, reason);
  }

  endAll(reason: EndReason): void {
    for (const share of [...this.#own]) this.end(share, reason);
  }

  /** Stops waiting without being reached; the promise stays unresolved. */
  forget(share: Share): void {
    this.#compute.forget(share);
  }
}

/** What the engines on one GPU have between them. */
export class Compute {
  readonly #clock: Clock;
  readonly #shares = new Set<Share>();
  #alpha = 0;
  #timer: Timer | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  join(speed: number, alpha: number): Share {
    this.#rebase(alpha);
    const share: Share = { speed, alpha, doneMs: 0, anchorMs: this.#clock.nowMs(), waiter: null, reason: null };
    this.#shares.add(share);
    this.#alpha = meanAlpha(this.#shares);
    this.#arm();
    return share;
  }

  leave(share: Share): void {
    if (!this.#shares.has(share)) return;
    this.#rebase(0);
    this.#shares.delete(share);
    this.#alpha = meanAlpha(this.#shares);
    this.#arm();
  }

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

  end(share: Share, reason: EndReason): void {
    if (share.reason !== null) return;
    share.reason = reason;
    const waiter = share.waiter;
    share.waiter = null;
    waiter?.resolve("ended");
    this.#arm();
  }

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

  /** Books the work done at the present rate, before the shares change. Not needed when rates never change. */
  #rebase(joining: number): void {
    if (this.#alpha === 0 && joining === 0) return;
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

/** Equal ones are not added up, so that they stay equal to the last digit. */
function meanAlpha(shares: ReadonlySet<Share>): number {
  const alphas = [...shares].map(({ alpha }) => alpha);
  const [first = 0] = alphas;
  if (alphas.every((each) => each === first)) return first;
  return alphas.reduce((sum, each) => sum + each, 0) / alphas.length;
}
