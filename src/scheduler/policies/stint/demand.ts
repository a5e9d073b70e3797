// What a model's own next jobs are expected to be worth per second, if it is kept.

import { BANDS } from "../../../domain/band.ts";
import type { ModelView } from "../../snapshot.ts";
import { seconds } from "./queue.ts";
import type { Settings } from "./settings.ts";

/**
 * Weighted arrivals per second: the decayed rate, but never more than two in the time since the last arrival, so that a
 * burst that is over is not waited for. Falls with time.
 */
export function demandOf(view: ModelView, nowMs: number, of: Settings): number {
  if (view.lastArrivalAtMs === null) return 0;
  const quiet = Math.max(1, seconds(nowMs - view.lastArrivalAtMs));
  const perSecond = Math.LN2 / of.rateHalfLifeSeconds;
  return BANDS.reduce((sum, band) => {
    const { value, atMs } = view.bands[band].arrivals;
    if (value === 0) return sum;
    const rate = value * Math.exp(-seconds(Math.max(0, nowMs - atMs)) * perSecond) * perSecond;
    return sum + of.weight[band] * Math.min(rate, 2 / quiet);
  }, 0);
}
