// Whether one more copy of a model on another device pays: its queue, worked off by one copy more, would still take longer
// than four loads.

import type { ServiceView } from "./snapshot.ts";
import { drainSeconds, seconds } from "./weigh.ts";

/** A copy is worth less than what is loaded once: it must save several times its load. */
const LOADS = 4;
interface Copied {
  readonly depth: number;
  readonly slots: number;
  readonly loadMs: number;
  readonly service: ServiceView;
}

/** @param copies How many are loaded or on their way; at least one. */
export function copyPays(model: Copied, copies: number): boolean {
  return drainSeconds(model, model.depth) / (copies + 1) > LOADS * seconds(model.loadMs);
}
