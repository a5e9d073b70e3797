// Values as llama-swap expects them; what is of another kind is said and counts as absent.

import type { Ledger } from "./ledger.ts";
import type { Field } from "./source.ts";

export function textOf(field: Field | undefined): string | null {
  if (field === undefined || field.section !== null || field.value === null) return null;
  return Array.isArray(field.value) ? field.value.map(String).join(" ") : String(field.value);
}

/** @param fill for a number that comes from a macro */
export function numberOf(
  field: Field | undefined,
  ledger: Ledger,
  fill: (text: string) => string = (text) => text,
): number | null {
  if (field === undefined) return null;
  const value = typeof field.value === "string" ? Number(fill(field.value)) : field.value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  ledger.leave(field, "is no number.");
  return null;
}

const LONGEST_SECONDS = 315_360_000;

/** Within what the configuration takes for a duration. */
export function bounded(seconds: number, least = 0, most = LONGEST_SECONDS): number {
  return Math.min(most, Math.max(least, seconds));
}

/** The texts of a list; what is no list is empty. */
export function textsOf(field: Field | undefined): readonly string[] {
  return Array.isArray(field?.value) ? field.value.map(String) : [];
}
