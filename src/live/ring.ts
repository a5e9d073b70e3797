// The frames of the last minute, so that a reader who was away for a moment is given what it missed and not everything.

import type { Scope } from "./changes.ts";

const KEEP_MS = 60_000;
const MAX_BYTES = 4 * 1024 * 1024;

export interface Frame {
  readonly seq: number;
  readonly atMs: number;
  /** As each scope that was watched then was told it. */
  readonly bytes: ReadonlyMap<Scope, Uint8Array>;
}

export class FrameRing {
  #frames: Frame[] = [];
  #bytes = 0;

  push(frame: Frame): void {
    this.#frames.push(frame);
    this.#bytes += sizeOf(frame);
    while (this.#bytes > MAX_BYTES) this.#drop();
    while ((this.#frames[0]?.atMs ?? Number.POSITIVE_INFINITY) < frame.atMs - KEEP_MS) this.#drop();
  }

  /** Everything after frame `seq` up to the newest; null: some of it is gone, or was never told to this scope. */
  after(seq: number, scope: Scope): Uint8Array[] | null {
    const first = this.#frames[0]?.seq;
    const last = this.#frames.at(-1)?.seq;
    if (first === undefined || last === undefined || seq < first - 1 || seq > last) return null;
    const missed: Uint8Array[] = [];
    for (const frame of this.#frames) {
      if (frame.seq <= seq) continue;
      const bytes = frame.bytes.get(scope);
      if (bytes === undefined) return null;
      missed.push(bytes);
    }
    return missed;
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
  }

  #drop(): void {
    const gone = this.#frames.shift();
    if (gone !== undefined) this.#bytes -= sizeOf(gone);
  }
}

function sizeOf({ bytes }: Frame): number {
  let sum = 0;
  for (const each of bytes.values()) sum += each.length;
  return sum;
}
