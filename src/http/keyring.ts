// The keys that callers may show. Only their hashes are known here; each look compares with all of them in constant time.

import { createHash, timingSafeEqual } from "node:crypto";
import type { CallerKey, Scope } from "../domain/caller-key.ts";
import type { CallerId } from "../domain/ids.ts";

/** Who asks, once a key has been found. */
export interface Caller {
  readonly id: CallerId;
  readonly scopes: ReadonlySet<Scope>;
}

interface Held {
  readonly hash: Buffer;
  readonly caller: Caller;
}

export class Keyring {
  #held: readonly Held[] = [];

  constructor(keys: readonly CallerKey[] = []) {
    this.replace(keys);
  }

  /** Without keys everybody is let in, as one caller. */
  get isOpen(): boolean {
    return this.#held.length === 0;
  }

  /** The configuration was read again. A key that is gone is refused from the next request on. */
  replace(keys: readonly CallerKey[]): void {
    this.#held = keys.map(({ name, sha256, scopes }) => ({
      hash: Buffer.from(sha256, "hex"),
      caller: { id: name, scopes: new Set(scopes.includes("operate") ? [...scopes, "observe" as const] : scopes) },
    }));
  }

  find(secret: string): Caller | null {
    const hash = createHash("sha256").update(secret).digest();
    let found: Caller | null = null;
    for (const held of this.#held) if (timingSafeEqual(held.hash, hash)) found = held.caller;
    return found;
  }
}
