// Numbers in sentences. The parts of a quantity are joined by no-break spaces, so that a line never ends inside one.

const NBSP = "\u00a0";

const pad = (value: number): string => String(value).padStart(2, "0");

/** `0.4 s`, `2.6 s`, `41 s`, `31 m 01 s`, `2 h 05 m`; never negative. */
export function duration(ms: number): string {
  const tenths = Math.max(0, Math.round(ms / 100));
  if (tenths < 100) return `${tenths / 10}${NBSP}s`;
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}${NBSP}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return [`${minutes}${NBSP}m`, ...(seconds % 60 ? [`${pad(seconds % 60)}${NBSP}s`] : [])].join(NBSP);
  return [`${Math.floor(minutes / 60)}${NBSP}h`, ...(minutes % 60 ? [`${pad(minutes % 60)}${NBSP}m`] : [])].join(NBSP);
}

/** One decimal below a hundred, none above, thousands apart, a true minus sign. */
export function score(value: number): string {
  const rounded = Math.abs(value) < 99.95 ? Math.round(value * 10) / 10 : Math.round(value);
  const [whole = "0", fraction] = String(Math.abs(rounded)).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${rounded < 0 ? "\u2212" : ""}${grouped}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** `1 job`, `12 jobs`. */
export function jobs(count: number): string {
  return `${count}${NBSP}${count === 1 ? "job" : "jobs"}`;
}

/** `1 job waits`, `12 jobs wait`. */
export function jobsWait(count: number): string {
  return `${jobs(count)} ${count === 1 ? "waits" : "wait"}`;
}
