// What the disk itself takes to make 4 KB durable: the floor under every promise, measured in the same minute.

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const BLOCK_BYTES = 4_096;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Appends and syncs at most so often a second, one after the other, so that a disk with a budget for requests is not
 * emptied by its own measure. Blocks this thread. Each figure is one write and its fsync, in ms.
 */
export function rawSyncs(folder: string, perSecond: number, seconds: number): readonly number[] {
  const path = join(folder, "raw");
  const block = Buffer.alloc(BLOCK_BYTES, 1);
  const file = openSync(path, "w");
  const tookMs: number[] = [];
  try {
    const endMs = performance.now() + seconds * 1_000;
    for (let n = 0; performance.now() < endMs && n < perSecond * seconds; n++) {
      const fromMs = performance.now();
      writeSync(file, block);
      fsyncSync(file);
      const doneMs = performance.now();
      tookMs.push(doneMs - fromMs);
      const leftMs = 1_000 / perSecond - (doneMs - fromMs);
      if (leftMs > 0) Atomics.wait(sleeper, 0, 0, leftMs);
    }
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  return tookMs;
}
