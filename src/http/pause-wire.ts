// A pause on the wire.

import type { PauseWire } from "../client/wire-status.ts";
import type { Pause } from "../domain/pause.ts";
import type { HttpWorld } from "./deps.ts";
import { wallSeconds } from "./models.ts";

/** The name of whoever paused, to those who may not know it. */
export const SOMEBODY = "an operator";

export function pauseWire(world: HttpWorld, pause: Pause | null): PauseWire | null {
  if (pause === null) return null;
  const { scope, subject, who, note, fromMs } = pause;
  return { scope, subject, who, note, since: wallSeconds(world, fromMs) ?? 0 };
}
