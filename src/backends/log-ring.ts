// The newest lines of an engine's log, bounded in lines and in bytes, and a way to follow them. A follower that is too
// slow misses the oldest lines and is told so; it never makes the ring grow.

/** Of a line as much is kept. */
const LINE_CHARS = 1_000;
const ESCAPES = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu;
const CONTROLS = /\p{Cc}/gu;

export interface RingBounds {
  readonly maxLines: number;
  /** Of text as UTF-16, two bytes a unit. */
  readonly maxBytes: number;
}

export class LogRing {
  readonly #bounds: RingBounds;
  #lines: string[] = [];
  /** Index in `#lines` of the oldest line that counts; those before it are cut away now and then. */
  #head = 0;
  #bytes = 0;
  /** How many lines have gone. */
  #gone = 0;
  readonly #waiting = new Set<() => void>();

  constructor(bounds: RingBounds) {
    this.#bounds = bounds;
  }

  /** Takes one line, without its end; control characters and colours are taken out. */
  push(text: string): void {
    const line = cleanLine(text);
    this.#lines.push(line);
    this.#bytes += line.length * 2;
    while (this.#lines.length - this.#head > this.#bounds.maxLines || this.#bytes > this.#bounds.maxBytes) this.#drop();
    for (const wake of [...this.#waiting]) wake();
  }

  /** The newest `count` lines, oldest first. */
  last(count: number): readonly string[] {
    const from = Math.max(this.#head, this.#lines.length - Math.max(0, Math.floor(count)));
    return this.#lines.slice(from);
  }

  /** The newest `count` lines, then each further one as it comes, until `signal` is aborted. */
  async *follow(signal: AbortSignal, count = 0): AsyncGenerator<string, void, undefined> {
    let next = this.#gone + this.#lines.length - this.#head - this.last(count).length;
    while (!signal.aborted) {
      if (next < this.#gone) {
        yield `… ${this.#gone - next} lines were dropped …`;
        next = this.#gone;
      }
      const line = this.#lines[this.#head + next - this.#gone];
      if (line === undefined) await this.#pushed(signal);
      else {
        next++;
        yield line;
      }
    }
  }

  #drop(): void {
    this.#bytes -= (this.#lines[this.#head]?.length ?? 0) * 2;
    this.#head++;
    this.#gone++;
    if (this.#head < this.#bounds.maxLines) return;
    this.#lines = this.#lines.slice(this.#head);
    this.#head = 0;
  }

  #pushed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** Bytes as lines. What has no end of line yet is held, up to a bound; a progress bar's returns end lines too. */
export class LineCutter {
  #held = Buffer.alloc(0);
  readonly #maxHeldBytes: number;

  constructor(maxHeldBytes = 16 * 1024) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** The lines that `chunk` completes; empty ones are left out. */
  push(chunk: Uint8Array): readonly string[] {
    const bytes = Buffer.concat([this.#held, chunk]);
    const lines: string[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte !== 10 && byte !== 13) continue;
      if (at > from) lines.push(bytes.toString("utf8", from, at));
      from = at + 1;
    }
    this.#held = Buffer.from(bytes.subarray(from, from + this.#maxHeldBytes));
    return lines;
  }

  /** What is left without an end of line, or null. */
  end(): string | null {
    const rest = this.#held.toString("utf8");
    this.#held = Buffer.alloc(0);
    return rest === "" ? null : rest;
  }
}

function cleanLine(text: string): string {
  return text.replace(ESCAPES, "").replace(CONTROLS, " ").trimEnd().slice(0, LINE_CHARS);
}
