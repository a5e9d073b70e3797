// What waits, weighed. All in seconds, and all from sums per band: no job is looked at.

import { BANDS, type Band } from "../../../domain/band.ts";
import type { ModelView } from "../../snapshot.ts";
import { bandWeight, drainSeconds, seconds, waitedSeconds } from "../../weigh.ts";
import type { PerBand, Settings } from "./settings.ts";

/** Below this a load and a queue take no time; keeps quotients finite. */
const INSTANT_SECONDS = 1e-3;

/** S: to make it ready, and to take it out again one day. */
export function switchSeconds(view: ModelView): number {
  return seconds(view.loadMs + view.unloadMs);
}

/** D: weighted seconds that its jobs have waited. */
export function debtOf(view: ModelView, nowMs: number, { weight }: Settings): number {
  return BANDS.reduce((sum, band) => sum + weight[band] * waitedSeconds(view, band, nowMs), 0);
}

/** What of its debt it had already when the last load ended. */
export function debtAtLoad(view: ModelView, { weight }: Settings): number {
  return BANDS.reduce((sum, band) => sum + weight[band] * seconds(view.bands[band].waitedMsAtLoad), 0);
}

/** How fast its debt grows, per second. */
export function debtSlope(view: ModelView, weight: PerBand): number {
  return BANDS.reduce((sum, band) => sum + weight[band] * view.bands[band].depth, 0);
}

/** The most urgent band that waits. */
export function bestBand({ bands }: ModelView): Band {
  return BANDS.find((band) => bands[band].depth > 0) ?? "batch";
}

/** The most urgent jobs up to some band, and what serving just them is worth: W / (setup + T). */
export interface Block {
  readonly weight: number;
  readonly drainSeconds: number;
  readonly density: number;
  /** How fast `density` grows, per second. */
  readonly slope: number;
}

const NOTHING: Block = { weight: 0, drainSeconds: 0, density: -1, slope: 0 };

/** One block for each band that waits, the most urgent first. */
export function blocksOf(view: ModelView, setupSeconds: number, nowMs: number, of: Settings): Block[] {
  const blocks: Block[] = [];
  let [weight, n, growth] = [0, 0, 0];
  for (const band of BANDS) {
    const { depth } = view.bands[band];
    if (depth === 0) continue;
    weight += bandWeight(view, band, nowMs, of);
    growth += (of.weight[band] * depth) / of.doublesSeconds[band];
    n += depth;
    const drain = drainSeconds(view, n);
    const takes = Math.max(INSTANT_SECONDS, setupSeconds + drain);
    blocks.push({ weight, drainSeconds: drain, density: weight / takes, slope: growth / takes });
  }
  return blocks;
}

/** d: the block that is worth most for its time. */
export function densest(blocks: readonly Block[]): Block {
  return blocks.reduce((best, each) => (each.density > best.density ? each : best), NOTHING);
}
