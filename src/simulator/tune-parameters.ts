// Which settings of a policy may be tuned, and by how much: factors within a half and the double of what holds now, one
// setting at a time. The weights of bands are never among them: they are what the owner wants, not what can be measured.

import type { SettingValues } from "../domain/tuning.ts";

/** Settings that trade waiting against loading, by policy. */
const TUNABLE: Readonly<Record<string, readonly string[]>> = {
  "model-score": ["minResidencySeconds", "maxWaitSeconds", "switchCostWeight", "depthWeight"],
  stint: ["price", "swapShare", "visitSeconds", "holdMax"],
  serial: ["agingDivisorSeconds", "swapAffinityBonus", "maxWaitSeconds", "minResidencySeconds"],
  longest: ["maxWaitSeconds", "minResidencySeconds"],
  fifo: ["maxWaitSeconds", "minResidencySeconds"],
};

export const FACTORS = [0.5, 0.71, 1.41, 2] as const;

export interface Candidate {
  readonly parameter: string;
  readonly factor: number;
  readonly set: SettingValues;
}

export function tunableOf(policy: string): readonly string[] {
  return TUNABLE[policy] ?? [];
}

/** Settings that are off (null), zero or no numbers have no factor. */
export function candidatesFor(policy: string, effective: SettingValues): readonly Candidate[] {
  return tunableOf(policy).flatMap((parameter) =>
    FACTORS.flatMap((factor): Candidate[] => {
      const value = scaled(effective[parameter], factor);
      return value === null ? [] : [{ parameter, factor, set: { [parameter]: value } }];
    }),
  );
}

/** A number, or one for each band; null where there is nothing to scale. */
function scaled(value: unknown, factor: number): unknown {
  if (typeof value === "number") return value > 0 ? rounded(value * factor) : null;
  if (typeof value !== "object" || value === null) return null;
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.some(([, each]) => typeof each !== "number")) return null;
  return Object.fromEntries(entries.map(([key, each]) => [key, rounded((each as number) * factor)]));
}

/** Three digits are enough for anyone who has to read it. */
const rounded = (value: number): number => Number(value.toPrecision(3));
