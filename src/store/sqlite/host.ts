// Where the writing connection lives: in a worker thread, or in this one. The store on top does not know which.

import type { JobId } from "../../domain/ids.ts";
import type { Body, Result } from "../store.ts";
import type { CommitReport, Reply, Request } from "./batch.ts";

/** What a host tells the store. */
export interface HostEvents {
  /** Answers in the order of their requests, after COMMIT. */
  replies(replies: readonly Reply[]): void;
  commit(report: CommitReport): void;
  /** Nothing may be acknowledged any more. */
  broken(error: Error): void;
  /** The simulated process died: nobody will hear anything more. */
  died(): void;
}

export interface Upkeep {
  readonly walBytes: number;
  /** A reader kept the WAL from being emptied. */
  readonly busy: boolean;
}

export interface Host {
  /** Runs `flush` once this tick's verbs are gathered. */
  schedule(flush: () => void): void;
  /** False: `submit` has answered before it returns, so nothing can be late. */
  readonly remote: boolean;
  /** Executes in order, in as few commits as it can. */
  submit(requests: readonly Request[]): void;
  /** For values too large to be read in the main thread. */
  body(id: JobId): Promise<Body | null>;
  result(id: JobId): Promise<Result | null>;
  upkeep(): Promise<Upkeep>;
  backup(path: string): Promise<void>;
  /** Empties the WAL and closes the connection. Everything submitted before is committed first. */
  close(): Promise<void>;
}
