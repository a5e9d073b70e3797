// What ends a call before its answer: the caller's signal, or its one deadline, which covers submit, polls and sleeps.

import { DeadlineExceeded } from "./errors.ts";
import { after } from "./platform.ts";

export interface LimitOptions {
  readonly signal?: AbortSignal | null | undefined;
  /** From now to the answer; above zero. Absent: none. */
  readonly deadlineSeconds?: number | undefined;
}

export class Limit {
  /** Undefined: nothing ends it. */
  readonly signal: AbortSignal | undefined;
  /** The deadline ends with the answer; the caller's signal still governs a body that is handed on. */
  readonly close: () => void;

  constructor({ signal, deadlineSeconds }: LimitOptions) {
    if (deadlineSeconds === undefined) {
      this.signal = signal ?? undefined;
      this.close = () => undefined;
      return;
    }
    if (!(deadlineSeconds > 0)) throw new RangeError(`deadlineSeconds must be above 0, got ${deadlineSeconds}`);
    const deadline = new AbortController();
    this.close = after(deadlineSeconds * 1000, () => deadline.abort(new DeadlineExceeded(deadlineSeconds)));
    this.signal = signal == null ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
  }
}
