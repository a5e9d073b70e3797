// An engine's output. It goes to a file and not to a pipe, because a pipe ends with the router and would take the engine
// along; the file is read behind it into a bounded ring, and emptied when it has grown.

import { mkdir, open, rm, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock, Timer } from "../../domain/clock.ts";
import { LineCutter, LogRing } from "../log-ring.ts";

const LOOK_MS = 250;
const READ_BYTES = 256 * 1024;
const FILE_BYTES = 16 * 1024 * 1024;
const LINE_BYTES = 400;

export class LogFile {
  readonly path: string;
  readonly ring: LogRing;
  readonly #clock: Clock;
  readonly #cutter = new LineCutter();
  #readTo = 0;
  #timer: Timer | null = null;
  #reading: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(path: string, maxLines: number, clock: Clock) {
    this.path = path;
    this.ring = new LogRing({ maxLines, maxBytes: maxLines * LINE_BYTES });
    this.#clock = clock;
  }

  /** For the engine to write to; the caller closes it. Appending, so that the file may be emptied under it. */
  async openForWriting(): Promise<{ readonly fd: number; close(): Promise<void> }> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    return open(this.path, "a", 0o600);
  }

  /** Reads from now on until it is closed; of what is there already, the end. */
  watch(): void {
    const look = (): void => {
      this.#timer = this.#clock.at(this.#clock.nowMs() + LOOK_MS, () => void this.catchUp().then(look));
      if (this.#closed) this.#timer.cancel();
    };
    look();
  }

  /** Resolves when everything written so far is in the ring. */
  catchUp(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#read()).catch(() => undefined);
    return this.#reading;
  }

  /** A line of the router's own. */
  note(text: string): void {
    this.ring.push(`[sir] ${text}`);
  }

  /** The file goes with the engine. The ring stays. */
  async close(): Promise<void> {
    await this.catchUp();
    const rest = this.#cutter.end();
    if (rest !== null) this.ring.push(rest);
    this.leave();
    await rm(this.path, { force: true });
  }

  /** Reads no more, and leaves the file to the engine. */
  leave(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #read(): Promise<void> {
    if (this.#closed) return;
    const file = await open(this.path, "r");
    try {
      const { size } = await file.stat();
      if (size < this.#readTo) this.#readTo = 0;
      this.#readTo = Math.max(this.#readTo, size - READ_BYTES * 8);
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, this.#readTo);
        if (bytesRead === 0) break;
        this.#readTo += bytesRead;
        for (const line of this.#cutter.push(buffer.subarray(0, bytesRead))) this.ring.push(line);
      }
    } finally {
      await file.close();
    }
    if (this.#readTo <= FILE_BYTES) return;
    await truncate(this.path, 0);
    this.#readTo = 0;
  }
}
