// `--limit`: how many rows a list may have.

import { UsageError } from "./command.ts";

const MOST = 100;

/** @throws {UsageError} */
export function limitOf(given: unknown): number {
  const text = String(given);
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MOST) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${MOST}.`);
}
