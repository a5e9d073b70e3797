// Live answers on their way from a running attempt to whoever is attached. The store stays the truth: what is not
// attached in time is read from there. Bounded: a listener that does not take its bytes is dropped, never waited for
// without end.

import type { Head } from "../backends/backend.ts";
import type { JobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";

/** What a listener hears, in this order: head?, chunk*, then exactly one of done, failed; `restart` voids what came before. */
export interface Listener {
  /** The engine's status and headers. */
  head(head: Head): void;
  /** Resolves when more may come. */
  chunk(bytes: Uint8Array): Promise<void> | void;
  /** The attempt is over and another follows; only sent to listeners that have not had a byte. */
  restart(): void;
  /** The job is final. `body` is the whole answer when it was kept in memory, else null: read the store. */
  done(job: Job): void;
}

export interface Attachment {
  detach(): void;
}

export interface Relay {
  /** Attaches to a live job; call before the job may run, or miss nothing but what has already been sent. */
  attach(id: JobId, listener: Listener): Attachment;
}
