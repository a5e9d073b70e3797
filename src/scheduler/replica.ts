// Whether one more copy of a model on another device pays: its queue, worked off by one copy more, would still take longer
// than four loads.

import type { ServiceView } from "./snapshot.ts";

/** A copy is worth less than what is loaded once: it must save several times its load. */
const LOADS = 4;
/** Where nothing is known of how long a job runs. */
const ALONE_GUESS_MS = 5_000;

interface Copied {
  readonly depth: number;
  readonly slots: number;
  readonly loadMs: number;
  readonly service: ServiceView;
}

/** @param copies How many are loaded or on their way; at least one. */
export function copyPays({ depth, slots, loadMs, service }: Copied, copies: number): boolean {
  if (depth === 0) return false;
  const n = Math.min(depth, slots);
  const { aloneMs, slowdownPerJob } = service;
  const drainMs = (aloneMs ?? ALONE_GUESS_MS) * (1 + slowdownPerJob * (n - 1)) * Math.max(1, depth / slots);
  return drainMs / (copies + 1) > LOADS * loadMs;
}
