// Quantities in columns: as in sentences, but in one piece, so that a program can split at blanks and a person can type
// them back.

import { duration } from "../scheduler/wording.ts";

/** `0.4s`, `41s`, `31m01s`, `2h05m`, `4d02h`. */
export function span(ms: number): string {
  return duration(ms).replaceAll("\u00a0", "");
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
