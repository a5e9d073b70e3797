// Who paused something, and why, as far as the reader may know.

import type { PauseWire } from "../../../src/client/wire-status.ts";

/** `Paused by oda: new driver`. Without keys nobody has a name. */
export function pauseWords({ who, note }: Pick<PauseWire, "who" | "note">): string {
  return `Paused by ${who === "local" ? "an operator" : who}${note === null ? "" : `: ${note}`}`;
}
