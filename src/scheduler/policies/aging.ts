// How waiting is traded against priority: a job gains one point each so many seconds.

import type { Ranking } from "../../domain/ranking.ts";

/** Stands for "never overtaken by waiting": 31 years a point. Exact to 1 ms up to priorities of about 4,000 either way. */
const STRICT_MS_PER_POINT = 1e12;

/** @param agingDivisorSeconds 0: no ageing. */
export function aging(agingDivisorSeconds: number): Ranking {
  const msPerPoint = agingDivisorSeconds === 0 ? STRICT_MS_PER_POINT : agingDivisorSeconds * 1000;
  return { kind: "aging", msPerPoint };
}
