// The time on the page is the router's: what it said last, and how long ago that was by a clock that nobody sets. The
// browser's own clock and date may be wrong by hours and are not asked. While nothing is heard, time stands still.

import { Cell, useCell, useSelected } from "./cell.ts";

const TICK_MS = 1000;

/** Unix milliseconds of the router, whole seconds; 0 until it has spoken. */
const tick = new Cell(0);
let base: { readonly serverMs: number; readonly heardMs: number } | null = null;
let running = false;

/** The router's clock when its frame was read. */
export function setClock(serverMs: number): void {
  base = { serverMs, heardMs: performance.now() };
  running = true;
  publish();
}

/** Nothing is heard: figures do not count on. */
export function stopClock(): void {
  if (base !== null && running) base = { serverMs: nowMs(), heardMs: 0 };
  running = false;
  publish();
}

/** Unix milliseconds of the router; 0 until it has spoken. */
export function nowMs(): number {
  if (base === null) return 0;
  return running ? base.serverMs + performance.now() - base.heardMs : base.serverMs;
}

/** The same, once a second, for what counts along. */
export function useNow(): number {
  return useCell(tick);
}

/** The same while `active`; else the moment of the last drawing, so that what is over is left alone. */
export function useNowWhile(active: boolean): number {
  const ticking = useSelected(tick, (now) => (active ? now : 0));
  return active ? ticking : nowMs();
}

function publish(): void {
  tick.set(Math.floor(nowMs() / TICK_MS) * TICK_MS);
}

setInterval(() => {
  if (running && !document.hidden) publish();
}, TICK_MS / 2);
