// One reader of the stream: what was sent and not taken yet. One that lags is sent nothing until it has taken all of it,
// and then the whole state.

import type { Scope } from "./changes.ts";

/** A reader with more than this untaken is left alone. */
const LAG_BYTES = 256 * 1024;

/** Where a reader's bytes go. */
export interface Outlet {
  /** Resolves when they are taken, or the reader is gone. The bytes belong to all readers: nobody may write to them. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
}

export class Watcher {
  readonly scope: Scope;
  readonly #outlet: Outlet;
  readonly #onDrained: (watcher: Watcher) => void;
  #untakenBytes = 0;
  /** `new`: nothing was sent yet. `lags`: it has to take what it was sent before. `drained`: it has, and knows too little. */
  #state: "new" | "current" | "lags" | "drained" = "new";

  /** @param onDrained It has taken everything after a lag, and is to be shown the whole state. */
  constructor(scope: Scope, outlet: Outlet, onDrained: (watcher: Watcher) => void) {
    this.scope = scope;
    this.#outlet = outlet;
    this.#onDrained = onDrained;
  }

  get untakenBytes(): number {
    return this.#untakenBytes;
  }

  /** From here on it is sent every frame. */
  begin(bytes: readonly Uint8Array[]): void {
    this.#state = "current";
    for (const each of bytes) this.#write(each);
  }

  /** False: it lags, and was not sent this. */
  send(bytes: Uint8Array): boolean {
    if (this.#state === "current" && this.#untakenBytes > LAG_BYTES) this.#state = "lags";
    if (this.#state === "current") this.#write(bytes);
    return this.#state !== "lags";
  }

  /** The last words; one that lags is not sent them. */
  end(bytes: Uint8Array): void {
    if (this.#state !== "lags") void this.#outlet.write(bytes);
    this.#outlet.end();
  }

  #write(bytes: Uint8Array): void {
    this.#untakenBytes += bytes.length;
    void this.#outlet.write(bytes).then(() => this.#taken(bytes.length));
  }

  #taken(bytes: number): void {
    this.#untakenBytes -= bytes;
    if (this.#state !== "lags" || this.#untakenBytes > 0) return;
    this.#state = "drained";
    this.#onDrained(this);
  }
}
