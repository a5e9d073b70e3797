// Instants and durations as people read them. Durations are the server's own words; instants are the reader's local time.

export { duration } from "../../../src/scheduler/wording.ts";

const pad = (value: number): string => String(value).padStart(2, "0");

/** `21:50:12`, local. */
export function clock(ms: number): string {
  const at = new Date(ms);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** `21:50`, local. */
export function clockMinutes(ms: number): string {
  return clock(ms).slice(0, 5);
}

/** The clock, and the day where it is another than today's. */
export function moment(ms: number, nowMs: number): string {
  const at = new Date(ms);
  const today = new Date(nowMs);
  if (at.toDateString() === today.toDateString()) return clock(ms);
  return `${at.toLocaleDateString(undefined, { day: "numeric", month: "short" })}, ${clock(ms)}`;
}
