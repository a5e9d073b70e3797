// Two ways to round, because the founding table was printed by Python, which rounds exact halves to the even digit.

export type Rounding = "half-even" | "half-up";

/** Values are first brought to nine digits, so that an exact half stays one after adding up in binary. */
export function round(value: number, rounding: Rounding, digits = 0): number {
  const scale = 10 ** digits;
  const scaled = Number((value * scale).toFixed(9));
  const below = Math.floor(scaled);
  const isHalf = scaled - below === 0.5;
  if (!isHalf) return Math.round(scaled) / scale;
  return (rounding === "half-even" && below % 2 === 0 ? below : below + 1) / scale;
}

/** Fixed decimals, e.g. `9.8`. */
export function fixed(value: number, rounding: Rounding, digits = 1): string {
  return round(value, rounding, digits).toFixed(digits);
}

/** The value at `percent` of an ascending list, without interpolation; 0 when it is empty. */
export function percentile(ascending: readonly number[], percent: number, rounding: Rounding): number {
  return ascending[round((percent / 100) * (ascending.length - 1), rounding)] ?? 0;
}
