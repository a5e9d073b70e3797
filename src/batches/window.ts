// How much of a batch is queued at a time. The queue must never run dry between two looks at it, and no more than that
// may stand in front of other callers of the same band.

/** Jobs of one caller that are queued or running of one model, whatever its batches hold. */
const LEAST_WINDOW = 64;
/** Windows full of slots: while one half of the window runs out, the other is queued. */
const SLOTS_AHEAD = 4;
const LEAST_SHARE = 8;
/** Lines in one commit. */
const MOST_FED = 256;

/** @param batches Of the same caller with lines for the same model; they share its window. */
export function windowOf(concurrency: number, batches: number): number {
  const window = Math.max(LEAST_WINDOW, SLOTS_AHEAD * concurrency);
  return Math.max(LEAST_SHARE, Math.ceil(window / Math.max(1, batches)));
}

/** How many lines to queue now: none while more than half the window is out. */
export function linesToFeed(window: number, out: number, waiting: number, room: number): number {
  if (out > window / 2) return 0;
  return Math.max(0, Math.min(window - out, waiting, room, MOST_FED));
}
