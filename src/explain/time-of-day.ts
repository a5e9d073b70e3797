// Instants as people read them off a clock. Times of day are those of the machine that writes the sentence (its `TZ`):
// the router's for everything it answers, so that page, API and command line show one text.

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
/** A bound is exact, so it is said to the second where that matters. */
const BOUND_NEAR_MS = 900_000;
const WEEK_MS = 6 * 86_400_000;

const two = (value: number): string => String(value).padStart(2, "0");

/** `21:36:07`; with the weekday or the date where it lies on another day than `beside`. Wall clock, both. */
export function timeOfDay(wallMs: number, beside: number): string {
  const at = new Date(wallMs);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${dayOf(at, beside)}`;
}

/** `21:59`, for what is only expected; to the second where it is less than two minutes away, or so near as is said. */
export function aboutTime(wallMs: number, nowWallMs: number, nearMs = 120_000): string {
  const at = new Date(wallMs);
  const text = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const near = Math.abs(wallMs - nowWallMs) < nearMs;
  return `${text}${near ? `:${two(at.getSeconds())}` : ""}${dayOf(at, nowWallMs)}`;
}

/** The same for what is a promise and no estimate. */
export function boundTime(wallMs: number, nowWallMs: number): string {
  return aboutTime(wallMs, nowWallMs, BOUND_NEAR_MS);
}

function dayOf(at: Date, beside: number): string {
  if (at.toDateString() === new Date(beside).toDateString()) return "";
  if (Math.abs(at.getTime() - beside) < WEEK_MS) return ` on ${DAYS[at.getDay()]}`;
  return ` on ${at.getDate()}\u00a0${MONTHS[at.getMonth()]}`;
}
