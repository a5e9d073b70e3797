// The real source of ids: UUIDv7, monotonic within the process.

import { randomFillSync } from "node:crypto";
import type { Clock } from "../domain/clock.ts";
import { type IdPrefix, type IdSource, uuidV7Hex } from "../domain/ids.ts";

const POOL_BYTES = 8 * 512;

/** @param clock Router time, so that ids never go back either. */
export function createIds(clock: Pick<Clock, "nowMs">): IdSource {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = 0;
  let counter = 0;
  const next = (prefix: IdPrefix): string => {
    const nowMs = Math.floor(clock.nowMs());
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = 0;
    } else if (++counter > 0xfff) {
      lastMs++;
      counter = 0;
    }
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const random = pool.subarray(used, used + 8);
    used += 8;
    return `${prefix}_${uuidV7Hex(lastMs, counter, random)}`;
  };
  return { next } as IdSource;
}
