// When an event that was not taken is sent again: the schedule that Standard Webhooks proposes, ten attempts in a good
// three days, each moved by up to a fifth, so that many events of one outage do not come back at one instant.

import { createHash } from "node:crypto";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;
export const MOST_ATTEMPTS = DELAYS_MS.length + 1;
const JITTER = 0.2;

/** @param attempts Made so far, the one that just failed included. Null: it is given up. */
export function retryDelayMs(event: string, attempts: number, retryAfterMs: number | null): number | null {
  const delayMs = DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return null;
  return Math.max(delayMs * (1 + JITTER * (2 * chanceOf(event, attempts) - 1)), retryAfterMs ?? 0);
}

/** From 0 to 1, the same each time for one event and attempt. */
function chanceOf(event: string, attempts: number): number {
  return createHash("sha256").update(`${event} ${attempts}`).digest().readUInt32BE(0) / 0x1_0000_0000;
}
