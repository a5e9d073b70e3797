// Holds an engine's 4xx back until it is known whose fault it is: the caller's, who gets it byte for byte, or the
// server's, that has lost the model in between.

import type { Head, Sink } from "../backend.ts";

/** Longer refusals are taken for the caller's, whatever they say. */
const HELD_BYTES = 64 * 1024;

export class RefusalGuard implements Sink {
  readonly #sink: Sink;
  #head: Head | null = null;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #passed = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  head(head: Head): void {
    if (head.status >= 400) this.#head = head;
    else this.#give(head);
  }

  chunk(bytes: Uint8Array): Promise<void> | void {
    if (this.#head === null) return this.#sink.chunk(bytes);
    this.#bytes += bytes.byteLength;
    this.#chunks.push(bytes);
    if (this.#bytes > HELD_BYTES) return this.pass();
  }

  /** Whether the caller has been given anything. */
  get passed(): boolean {
    return this.#passed;
  }

  /** The refusal that is held back, or null. */
  held(): { readonly status: number; readonly text: string } | null {
    return this.#head === null
      ? null
      : { status: this.#head.status, text: Buffer.concat(this.#chunks).toString("utf8") };
  }

  /** Gives the caller what was held back; what follows goes straight through. */
  async pass(): Promise<void> {
    const head = this.#head;
    if (head === null) return;
    const chunks = this.#chunks;
    this.#head = null;
    this.#chunks = [];
    this.#give(head);
    for (const chunk of chunks) await this.#sink.chunk(chunk);
  }

  #give(head: Head): void {
    this.#passed = true;
    this.#sink.head(head);
  }
}
