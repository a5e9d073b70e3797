// In what order the jobs of one model run: each has a constant key made of when it came and how urgent its caller said it
// is. The lowest runs first, equal ones in the order of their ids.

import { BAND_ANCHOR, type Band, bandOf } from "./band.ts";

/**
 * - `aging`: a point of priority is worth `msPerPoint` of earlier arrival, without bound: all jobs age at one rate.
 * - `bands`: a job of a lower band runs after those of a higher one that came up to `lagMs` later; inside a band a point
 *   away from the band's anchor is worth `msPerPoint`, but never so much that it leaves the band.
 */
export type Ranking =
  | { readonly kind: "aging"; readonly msPerPoint: number }
  | { readonly kind: "bands"; readonly msPerPoint: number; readonly lagMs: Readonly<Record<Band, number>> };

export function rankOf(ranking: Ranking, job: { readonly acceptedAtMs: number; readonly priority: number }): number {
  if (ranking.kind === "aging") return job.acceptedAtMs - job.priority * ranking.msPerPoint;
  return job.acceptedAtMs + lagOf(ranking, job.priority);
}

export function sameRanking(a: Ranking, b: Ranking): boolean {
  if (a.kind !== b.kind || a.msPerPoint !== b.msPerPoint) return false;
  if (a.kind === "aging" || b.kind === "aging") return true;
  const { lagMs } = a;
  return lagMs.interactive === b.lagMs.interactive && lagMs.normal === b.lagMs.normal && lagMs.batch === b.lagMs.batch;
}

/** Half way to the neighbouring band is as far as a point can carry a job. */
function lagOf({ lagMs, msPerPoint }: Extract<Ranking, { kind: "bands" }>, priority: number): number {
  const band = bandOf(priority);
  const lag = lagMs[band] - msPerPoint * (priority - BAND_ANCHOR[band]);
  const first = (lagMs.interactive + lagMs.normal) / 2;
  const second = (lagMs.normal + lagMs.batch) / 2;
  if (band === "interactive") return Math.min(lag, first - 1);
  return band === "normal" ? Math.min(Math.max(lag, first), second - 1) : Math.max(lag, second);
}
