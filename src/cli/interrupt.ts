// An AbortSignal that Ctrl-C sets, for commands that go on until then.

import type { Io } from "./command.ts";

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Gives the signals back. */
  forget(): void;
}

/** Also on SIGTERM and SIGHUP: whoever watches for them has nothing to finish. */
export function untilInterrupted(io: Io): Interrupt {
  const stop = new AbortController();
  const stops = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => io.onSignal(name, () => stop.abort()));
  return {
    signal: stop.signal,
    forget: () => {
      for (const forget of stops) forget();
    },
  };
}
