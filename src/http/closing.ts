// The two steps in which the HTTP side goes down, as signals that every open answer can listen to.

import type { Job } from "../domain/job.ts";

export interface Closing {
  /** No new work is taken; event streams end and long polls return. What runs may still finish. */
  readonly draining: AbortSignal;
  /** Time is up: answers that are still open end with an error. */
  readonly ending: AbortSignal;
}

export interface ClosingSwitch extends Closing {
  drain(): void;
  end(): void;
}

export function createClosing(): ClosingSwitch {
  const draining = new AbortController();
  const ending = new AbortController();
  return {
    draining: draining.signal,
    ending: ending.signal,
    drain: () => draining.abort(),
    end: () => {
      draining.abort();
      ending.abort();
    },
  };
}

/** Calls `fire` when the signal is or becomes aborted, never synchronously; returns how to stop listening. */
export function onAbort(signal: AbortSignal, fire: () => void): () => void {
  let listening = true;
  const once = (): void => {
    if (!listening) return;
    listening = false;
    fire();
  };
  if (signal.aborted) queueMicrotask(once);
  else signal.addEventListener("abort", once, { once: true });
  return () => {
    listening = false;
    signal.removeEventListener("abort", once);
  };
}

/** Its caller is still here, so it was not they who hung up: the router goes down and keeps nothing of the job. */
export function givenUpByUs({ state }: Job): boolean {
  return state.status === "cancelled" && state.reason === "disconnect";
}
