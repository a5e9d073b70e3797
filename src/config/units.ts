// The few kinds of value a configuration holds. Durations end in `Seconds` and may have fractions; sizes end in `GiB` or
// `Bytes`; the unit is in the key, never in the value.

import { z } from "zod";

/** Ten years: longer than any sensible setting, and far below where milliseconds lose precision. */
const LONGEST_SECONDS = 315_360_000;

export const seconds = (): z.ZodNumber => z.number().min(0).max(LONGEST_SECONDS);
export const secondsAboveZero = (): z.ZodNumber => z.number().positive().max(LONGEST_SECONDS);
export const count = (least: number, most: number): z.ZodNumber => z.int().min(least).max(most);
export const bytes = (least: number): z.ZodNumber => z.int().min(least).max(Number.MAX_SAFE_INTEGER);
export const gib = (): z.ZodNumber => z.number().positive().max(1_000_000);
/** A name as it appears on the wire: something visible, without control characters. */
export const name = (): z.ZodString =>
  z
    .string()
    .min(1)
    .max(256)
    .regex(/^\S(.*\S)?$/, "must neither begin nor end with a space")
    .regex(/^\P{Cc}*$/u, "must not hold control characters");

export const GIB_BYTES = 1_073_741_824;
/** Seconds to milliseconds, without the dust of binary fractions (0.2 s is 200 ms). */
export const toMs = (value: number): number => Math.round(value * 1e6) / 1e3;
