// What an abort does when the engine does not close its socket: after a while the slot is taken back all the same.

import type { Outcome } from "../backends/backend.ts";
import type { Clock, Timer } from "../domain/clock.ts";

/** Resolves as aborted when the engine call has not ended so long after its abort. */
export function graceAfter(
  signal: AbortSignal,
  graceMs: number,
  clock: Clock,
): { over: Promise<Outcome>; cancel(): void } {
  let timer: Timer | null = null;
  let onAbort = (): void => undefined;
  const over = new Promise<Outcome>((resolve) => {
    onAbort = () => {
      timer = clock.at(clock.nowMs() + graceMs, () => resolve({ kind: "aborted" }));
    };
  });
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    over,
    cancel: () => {
      signal.removeEventListener("abort", onAbort);
      timer?.cancel();
    },
  };
}
