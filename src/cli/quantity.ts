// Quantities in columns: as in sentences, but in one piece, so that a program can split at blanks and a person can type
// them back.

import { duration } from "../scheduler/wording.ts";

const NBSP = /\u00a0/g;

/** `0.4s`, `41s`, `31m01s`, `2h05m`, `6d04h`. */
export function span(ms: number): string {
  const hours = Math.floor(Math.max(0, ms) / 3_600_000);
  if (hours >= 48) return `${Math.floor(hours / 24)}d${String(hours % 24).padStart(2, "0")}h`;
  return duration(ms).replace(NBSP, "");
}

/** A share of one: `84 %`, and `<1 %` where there is something but not much. */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) return "<1 %";
  return `${Math.round(share * 100)} %`;
}

/** `72 GiB`, `4.5 GiB`. */
export function gib(value: number | null): string {
  return value === null ? "-" : `${Math.round(value * 10) / 10} GiB`;
}

export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;
  let value = bytes;
  let at = 0;
  while (value >= 1_024 && at < units.length - 1) {
    value /= 1_024;
    at++;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}

/** `1 job`, `3 jobs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
