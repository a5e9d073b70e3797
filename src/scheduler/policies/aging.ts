// How waiting is traded against priority: a job gains one point each so many seconds.

/** Stands for "never overtaken by waiting": 31 years a point. Exact to 1 ms up to priorities of about 4,000 either way. */
export const STRICT_MS_PER_POINT = 1e12;

/** @param agingDivisorSeconds 0: no ageing. */
export function msPerPoint(agingDivisorSeconds: number): number {
  return agingDivisorSeconds === 0 ? STRICT_MS_PER_POINT : agingDivisorSeconds * 1000;
}
