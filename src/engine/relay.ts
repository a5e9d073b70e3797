// Live answers on their way from a running attempt to whoever is attached. The store stays the truth: what is not
// attached in time is read from there. Bounded: a listener that does not take its bytes is dropped, never waited for
// without end.

import type { Head } from "../backends/backend.ts";
import type { JobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Result } from "../store/store.ts";

/** What a streaming listener takes as it comes. */
export interface Live {
  /** The engine's status and headers, before the first chunk. */
  head(head: Head): void;
  /** Resolves when more may come (back-pressure). Rejecting or never resolving drops the listener. */
  chunk(bytes: Uint8Array): Promise<void> | void;
}

export interface Listener {
  /** Null: it wants the whole answer at the end. A job is not retried once a live listener has had a byte. */
  readonly live: Live | null;
  /**
   * Called once, when the job is final and, if it is durable, committed. `result` is the whole answer where this process
   * has it; null when it was streamed through without being kept, or when there is none (see the job's state).
   */
  done(job: Job, result: Result | null): void;
  /** It can begin again with the next attempt: what it was given forbids none. */
  readonly beginsAgain?: boolean;
}

export interface Relay {
  /**
   * Attaches to a live job. A late live listener first gets what was sent so far, where that was kept (durable jobs).
   * Returns how to detach; detaching tells nobody and cancels nothing.
   */
  attach(id: JobId, listener: Listener): () => void;
  /**
   * Nobody takes this stream just now: what comes is kept for the next live listener. False when part of it was passed on
   * already, so that nobody else can have it whole.
   */
  keep(id: JobId): boolean;
}
