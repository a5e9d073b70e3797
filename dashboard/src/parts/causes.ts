// What people call a cause: the router's own words.

import type { CauseWire } from "../../../src/client/wire-explain.ts";
import { CAUSE_WORDS } from "../../../src/explain/causes.ts";

/** A cause of a newer router is said as it came. */
export function causeTitle(cause: string): string {
  return CAUSE_WORDS[cause as CauseWire]?.title ?? cause.replaceAll("_", " ");
}
