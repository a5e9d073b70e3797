// From an HTTP request to an accepted job, in two steps: `prepare` reads and checks everything and stores nothing;
// `accept` makes it a job.

import type { CallerId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { ModelSpec } from "../domain/model.ts";
import type { Hold } from "../engine/control.ts";
import type { Listener } from "../engine/relay.ts";
import type { Body, Result } from "../store/store.ts";

/** What HTTP hands over; the body has not been read yet. */
export interface IncomingCall {
  /** The engine's path, e.g. `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly caller: CallerId;
  /** By lower-case name; several lines joined with `, `. */
  header(name: string): string | null;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Only these five are read from a JSON body. */
export interface BodyFields {
  readonly model: string;
  readonly stream: boolean;
  readonly background: boolean;
  readonly serviceTier: string | null;
  readonly store: boolean | null;
}

/** A request that was read to its end and found acceptable. */
export interface PreparedCall {
  readonly endpoint: string;
  readonly caller: CallerId;
  readonly model: ModelSpec;
  readonly fields: BodyFields;
  readonly body: Body;
  readonly priority: number;
  /** Null: `SIR-Lease: none`. */
  readonly leaseMs: number | null;
  readonly deadlineMs: number | null;
  /** `SIR-Infeasible: refuse`: a deadline that the present backlog does not allow is refused. */
  readonly refuseInfeasible: boolean;
  readonly idempotency: { readonly key: string; readonly fingerprint: Uint8Array } | null;
  /** The SDK says that this is its n-th repetition (`x-stainless-retry-count`); null when it does not count. */
  readonly retryCount: number | null;
  /** Endpoint and content as a digest: by it a repetition is recognised; null when its caller does not count them. */
  readonly repeat: Uint8Array | null;
  readonly traceparent: string | null;
  readonly clientRequestId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Removes what was spooled. Called by `accept` itself when it refuses; safe to call twice. */
  discard(): Promise<void>;
}

export interface Accepted {
  readonly job: Job;
  /** An idempotency key named a job that existed already. */
  readonly replayed: boolean;
  /** The answer, when the job is final and only this process has it. */
  readonly result: Result | null;
  /** The waiting socket's hold on the job; null for `async`, and when the job is final already. */
  readonly hold: Hold | null;
  /** Stops listening; does nothing when no listener was given. */
  detach(): void;
  /** Makes the job outlive this socket: durable from when it resolves. Null: that cannot be, or it is over already. */
  keep(): Promise<Job | null>;
  /** Its answer is with the caller, who will not ask for it again. */
  delivered(): void;
}

export interface Intake {
  /**
   * Reads the body to its end (large and multipart bodies into the spool), checks model, headers and limits.
   * @throws {SirError} invalid_json, invalid_body, missing_model, model_not_found, invalid_header,
   *   invalid_idempotency_key, body_too_large, unsupported_media_type, queue_full, draining, storage_full,
   *   store_unavailable
   */
  prepare(call: IncomingCall): Promise<PreparedCall>;
  /**
   * `async`, `background` (nobody has to poll): resolves after COMMIT. `sync`: after COMMIT with an idempotency key, else at once. The listener is attached
   * before the job may run; it is not called when the job returned is final already. A repeated key is answered
   * whatever the body's file became: only the first copy is kept. A synchronous request that its SDK repeats (counter of
   * 1 and more, same caller, endpoint and bytes) takes up the job that its caller left behind.
   * @throws {SirError} deadline_infeasible (before anything is stored), idempotency_key_reused, queue_full, storage_full, store_unavailable
   */
  accept(call: PreparedCall, mode: "async" | "sync" | "background", listener?: Listener): Promise<Accepted>;
}
