// A container's log as lines. Without a terminal Docker sends frames: stream, three zeroes, length, bytes.

/** Of a line as much is kept. */
const LINE_CHARS = 1000;
/** Of an unfinished line as much is held. */
const HELD_BYTES = 16 * 1024;
const ESCAPES = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu;

export class LogLines {
  readonly #framed: boolean;
  #head = Buffer.alloc(0);
  #frameLeft = 0;
  #stream = 1;
  /** Standard output and standard error do not break each other's lines. */
  readonly #unfinished = new Map<number, Buffer>();

  /** @param framed False: the container has a terminal, and bytes come as they are. */
  constructor(framed: boolean) {
    this.#framed = framed;
  }

  /** The lines that `chunk` completes. A progress bar's returns end lines too. */
  push(chunk: Uint8Array): string[] {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (!this.#framed) return this.#take(bytes);
    const lines: string[] = [];
    while (bytes.byteLength > 0) {
      if (this.#frameLeft === 0) {
        const missing = 8 - this.#head.byteLength;
        this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)]);
        bytes = bytes.subarray(missing);
        if (this.#head.byteLength < 8) break;
        this.#stream = this.#head[0] ?? 1;
        this.#frameLeft = this.#head.readUInt32BE(4);
        this.#head = Buffer.alloc(0);
        continue;
      }
      const part = bytes.subarray(0, this.#frameLeft);
      this.#frameLeft -= part.byteLength;
      bytes = bytes.subarray(part.byteLength);
      lines.push(...this.#take(part));
    }
    return lines;
  }

  /** What is left without an end of line. */
  end(): string[] {
    const rest = [...this.#unfinished.values()].map(clean).filter((line) => line !== "");
    this.#unfinished.clear();
    return rest;
  }

  #take(bytes: Buffer): string[] {
    const lines: string[] = [];
    let held = Buffer.concat([this.#unfinished.get(this.#stream) ?? Buffer.alloc(0), bytes]);
    for (let end = endOfLine(held); end !== -1; end = endOfLine(held)) {
      const line = clean(held.subarray(0, end));
      if (line !== "") lines.push(line);
      held = held.subarray(end + 1);
    }
    this.#unfinished.set(this.#stream, Buffer.from(held.subarray(0, HELD_BYTES)));
    return lines;
  }
}

function endOfLine(bytes: Buffer): number {
  return bytes.findIndex((byte) => byte === 10 || byte === 13);
}

function clean(line: Buffer): string {
  return line
    .subarray(0, HELD_BYTES)
    .toString("utf8")
    .replace(ESCAPES, "")
    .replace(/\p{Cc}/gu, " ")
    .trimEnd()
    .slice(0, LINE_CHARS);
}
