// Finds a multipart delimiter (CRLF, two dashes, the boundary) in bytes that come in pieces of any size.

const CR = 0x0d;

/**
 * The delimiter holds a CR only at its first byte, so after a mismatch nothing but the very byte that failed can begin
 * another: no table and no looking back.
 */
export class DelimiterSearch {
  readonly #delimiter: Uint8Array;
  #matched = 0;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  /** The body begins as if a line had just ended: its first delimiter has no CRLF of its own. */
  assumeLineStart(): void {
    this.#matched = 2;
  }

  /**
   * Searches from `from`. `content` gets the bytes before the delimiter, in at most two pieces per call; bytes that may
   * be the beginning of a delimiter are held back until it is known.
   * @returns the offset after the delimiter, or -1 when it did not end in this chunk.
   */
  next(chunk: Uint8Array, from: number, content: (bytes: Uint8Array) => void): number {
    const delimiter = this.#delimiter;
    const length = chunk.length;
    const carried = this.#matched;
    let matched = carried;
    let isCarryPending = carried > 0;
    for (let at = from; at < length; at++) {
      const byte = chunk[at] as number;
      if (matched === 0) {
        if (byte === CR) matched = 1;
        continue;
      }
      if (byte === delimiter[matched]) {
        if (++matched < delimiter.length) continue;
        this.#matched = 0;
        const end = at + 1 - delimiter.length;
        if (!isCarryPending && end > from) content(chunk.subarray(from, end));
        return at + 1;
      }
      if (isCarryPending) {
        content(delimiter.subarray(0, carried));
        isCarryPending = false;
      }
      matched = byte === CR ? 1 : 0;
    }
    this.#matched = matched;
    // While the carried bytes may still become a delimiter, `matched` covers this whole chunk.
    const end = length - matched;
    if (end > from) content(chunk.subarray(from, end));
    return -1;
  }
}
