// A bounded copy of a few bytes that pass by in pieces: a key, a short value.

export class KeptBytes {
  readonly #bytes: Uint8Array;
  #length = 0;
  #limit = 0;
  #over = false;

  constructor(capacityBytes: number) {
    this.#bytes = new Uint8Array(capacityBytes);
  }

  /** Forgets what was kept; from now on up to `limitBytes` are. */
  restart(limitBytes: number): void {
    this.#length = 0;
    this.#limit = Math.min(limitBytes, this.#bytes.length);
    this.#over = false;
  }

  get isOver(): boolean {
    return this.#over;
  }

  append(chunk: Uint8Array, from: number, to: number): void {
    if (this.#over) return;
    if (this.#length + to - from > this.#limit) {
      this.#over = true;
      return;
    }
    for (let at = from; at < to; at++) this.#bytes[this.#length++] = chunk[at] as number;
  }

  /** What was kept, as UTF-8; null when there was more than the limit. */
  text(): string | null {
    return this.#over ? null : Buffer.from(this.#bytes.subarray(0, this.#length)).toString("utf8");
  }
}
