// What ends a call before its answer: the caller's signal, or its one deadline, which covers submit, polls and sleeps.

import { DeadlineExceeded } from "./errors.ts";
import { either, type Signal } from "./exchange.ts";
import { after, LONGEST_TIMER_MS } from "./platform.ts";

export interface LimitOptions {
  readonly signal?: AbortSignal | null | undefined;
  /** From now to the answer; above zero, at most 24 days. Absent: none. */
  readonly deadlineSeconds?: number | undefined;
}

/** The work, ended by either. The deadline ends with it; the caller's signal still governs a body that is handed on. */
export async function limited<T>(options: LimitOptions, work: (signal: Signal) => Promise<T>): Promise<T> {
  const { deadlineSeconds } = options;
  const signal = options.signal ?? undefined;
  if (deadlineSeconds === undefined) return work(signal);
  const ms = deadlineSeconds * 1000;
  if (!(ms > 0 && ms < LONGEST_TIMER_MS)) throw new RangeError(`deadlineSeconds must be above 0 and at most 24 days`);
  const deadline = new AbortController();
  const stop = after(ms, () => deadline.abort(new DeadlineExceeded(deadlineSeconds)));
  try {
    return await work(either(signal, deadline.signal));
  } finally {
    stop();
  }
}
