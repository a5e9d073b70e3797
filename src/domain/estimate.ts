// When a new estimate is news to somebody who was told an older one.

const MOVED_SHARE = 0.1;
const MOVED_MIN_MS = 2_000;

/** It has moved by more than a tenth of the time that was left, and by more than two seconds. Instants in ms. */
export function hasMoved(toldAtMs: number, freshAtMs: number, nowMs: number): boolean {
  const leftMs = Math.max(0, toldAtMs - nowMs);
  return Math.abs(freshAtMs - toldAtMs) > Math.max(MOVED_MIN_MS, leftMs * MOVED_SHARE);
}
