// Time, as everything but src/system sees it.

export interface Timer {
  cancel(): void;
}

/**
 * One clock for every rule and one for show.
 *
 * *Router time* starts at the wall clock and advances with the monotonic clock, so it never steps: leases, deadlines,
 * waits, ranks and retention are judged by it, and a wall clock set an hour forward or back changes none of them.
 * Wall time is for display only.
 */
export interface Clock {
  /** Router time in ms since the Unix epoch. Never decreases. Fractions are allowed. */
  nowMs(): number;
  /** The wall clock in ms since the Unix epoch; may jump. */
  wallMs(): number;
  /** Calls `fire` once, at or after `atMs` router time, never synchronously. */
  at(atMs: number, fire: () => void): Timer;
  /** Calls `fire` once everything that is ready now has reacted, without time passing. */
  soon(fire: () => void): void;
}

/** Resolves at `atMs`, or as soon as `signal` is aborted (it does not reject: look at the signal). */
export function sleepUntil(clock: Clock, atMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.at(atMs, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
