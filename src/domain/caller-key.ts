// Who may call: a key's name, what proves it, and what it may do.

import type { CallerId } from "./ids.ts";

/** What a key may be called. */
export const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/**
 * `submit`: inference, files, batches, hints, and its own jobs; of others it sees counts and models' names.
 * `observe`: reads everything but other callers' requests and answers.
 * `operate`: acts: loads, pauses, cancels anybody's job. Implies `observe`.
 */
export const SCOPES = ["submit", "observe", "operate"] as const;
export type Scope = (typeof SCOPES)[number];

export interface CallerKey {
  /** Owns what is made with the key, and goes on owning it when the key is replaced under the same name. */
  readonly name: CallerId;
  /** Of the key's UTF-8 bytes, in lower-case hexadecimal. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
}
