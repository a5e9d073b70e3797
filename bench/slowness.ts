// How slow the machine is just now: a shared one takes twice as long for the same work for minutes, also in CPU time.

import { setTimeout as pause } from "node:timers/promises";
import { median } from "./statistics.ts";

/** What the work below takes where the bars of the budgets were set: 2 x Xeon at 2.x GHz, Node 20, nobody beside it. */
const USUAL_MS = 0.5;
const BURSTS = 60;
/** Between requests a processor sleeps, and wakes slowly. */
const BETWEEN_MS = 4;
/** Beyond it the machine says nothing about the router, and a budget that is missed stays missed. */
const MOST = 4;

const DOCUMENT = Array.from({ length: 400 }, (_, i) => ({
  ...{ id: `job_${i}`, model: "Qwen/Qwen3-8B", from_ms: i * 1_000, to_ms: i * 1_000 + 777 },
  parts: [
    { cause: "held", ms: i },
    { cause: "running", ms: 2 * i },
  ],
  text: "A sentence of some length, to be written and read.",
}));

/** From 1: as fast as usual, or faster. */
export async function slowness(): Promise<number> {
  const tookMs: number[] = [];
  for (let n = -BURSTS; n < BURSTS; n++) {
    await pause(BETWEEN_MS);
    const fromMs = performance.now();
    JSON.parse(JSON.stringify(DOCUMENT));
    if (n >= 0) tookMs.push(performance.now() - fromMs);
  }
  return Math.min(MOST, Math.max(1, median(tookMs) / USUAL_MS));
}
