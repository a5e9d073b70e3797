// Synchronous responses pass through unread; only their ids are remembered for a while, so that who tries to cancel one
// hears why that cannot be instead of "never heard of it".

import type { CallerId } from "../../domain/ids.ts";

/** The newest so many; an id is short. */
const REMEMBERED = 10_000;
/** A response begins with its id. */
const PREFIX_BYTES = 2_048;
const ID = /"id"\s*:\s*"(resp[A-Za-z0-9_-]{1,120})"/;

export class PassingResponses {
  readonly #owners = new Map<string, CallerId>();

  /** @param bytes The beginning of an answer, whole or streamed. */
  note(caller: CallerId, bytes: Uint8Array): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PREFIX_BYTES)).toString(
      "latin1",
    );
    const id = ID.exec(text)?.[1];
    if (id === undefined) return;
    this.#owners.set(id, caller);
    if (this.#owners.size <= REMEMBERED) return;
    const [oldest] = this.#owners.keys();
    if (oldest !== undefined) this.#owners.delete(oldest);
  }

  has(caller: CallerId, id: string): boolean {
    return this.#owners.get(id) === caller;
  }
}
