// Instants of router time as Unix milliseconds for pages, and back. The difference between the two clocks is taken in
// whole seconds, and as none where it is small: the same instant must be the same number whenever it is asked for, because
// pages know stretches by their beginning.

import type { HttpWorld } from "./deps.ts";

const SAME_MS = 2_000;

/** How far the wall clock is ahead of router time. */
export function aheadMs({ clock }: Pick<HttpWorld, "clock">): number {
  const ms = clock.wallMs() - clock.nowMs();
  return Math.abs(ms) < SAME_MS ? 0 : Math.round(ms / 1000) * 1000;
}

export function shownMs(world: Pick<HttpWorld, "clock">, atMs: number): number {
  return Math.round(atMs + aheadMs(world));
}

export function routerMs(world: Pick<HttpWorld, "clock">, unixMs: number): number {
  return unixMs - aheadMs(world);
}
