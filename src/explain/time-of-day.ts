// Instants as people read them off a clock. Times of day are those of the machine that writes the sentence (its `TZ`):
// the router's for everything it answers, so that page, API and command line show one text.

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const WEEK_MS = 6 * 86_400_000;

const two = (value: number): string => String(value).padStart(2, "0");

/** `21:36:07`; with the weekday or the date where it lies on another day than `beside`. Wall clock, both. */
export function timeOfDay(wallMs: number, beside: number): string {
  const at = new Date(wallMs);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${dayOf(at, beside)}`;
}

/** `21:59`, for what is only expected; below two minutes away to the second. */
export function aboutTime(wallMs: number, nowWallMs: number): string {
  const at = new Date(wallMs);
  const text = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const near = Math.abs(wallMs - nowWallMs) < 120_000;
  return `${text}${near ? `:${two(at.getSeconds())}` : ""}${dayOf(at, nowWallMs)}`;
}

function dayOf(at: Date, beside: number): string {
  if (at.toDateString() === new Date(beside).toDateString()) return "";
  if (Math.abs(at.getTime() - beside) < WEEK_MS) return ` on ${DAYS[at.getDay()]}`;
  return ` on ${at.getDate()}\u00a0${MONTHS[at.getMonth()]}`;
}
