// The judgement over days: each parameter's value is chosen on all days but one and judged on that one, in turn. Only a
// change that gains a tenth on the median of at least five such days, and makes no band's p99 a tenth worse, passes.

import { BANDS, type Band } from "../domain/band.ts";
import type { SettingValues } from "../domain/tuning.ts";
import { quantile } from "./compare.ts";
import { median } from "./recorded-work.ts";
import type { Candidate } from "./tune-parameters.ts";

export const LEAST_DAYS = 5;
export const LEAST_GAIN = 0.1;
export const MOST_P99_HARM = 0.1;
/** A p99 that moved by less is called equal. */
const P99_SLACK_SECONDS = 1;

export interface DayResult {
  readonly weightedMeanWaitSeconds: number;
  readonly loadingShare: number;
  readonly swaps: number;
  /** Seconds, ascending. */
  readonly waits: Readonly<Record<Band, Float64Array>>;
}

export interface Table {
  readonly bases: readonly DayResult[];
  readonly others: readonly { readonly candidate: Candidate; readonly days: readonly DayResult[] }[];
}

export interface ParameterVerdict {
  readonly parameter: string;
  /** The best over all days; empty: staying is best. */
  readonly set: SettingValues;
  /** One for each day, of the value chosen on the other days; 0 where staying was chosen. */
  readonly heldOutGains: readonly number[];
  readonly medianGain: number;
  /** On how many days the others chose the very value that is proposed. */
  readonly agreeing: number;
  /** Over all days pooled, by band: how much longer its p99 is, as a share. */
  readonly p99Harm: Readonly<Record<Band, number>>;
  readonly passes: boolean;
  readonly why: string;
}

export function judge({ bases, others }: Table): ParameterVerdict[] {
  const parameters = [...new Set(others.map(({ candidate }) => candidate.parameter))];
  return parameters.map((parameter) => {
    const own = others.filter(({ candidate }) => candidate.parameter === parameter);
    const gains = own.map(({ days }) => days.map((day, i) => gainOf(bases[i], day)));
    const all = bases.map((_, i) => i);
    const chosen = bestOn(gains, all);
    const folds = all.map((held) =>
      bestOn(
        gains,
        all.filter((i) => i !== held),
      ),
    );
    const heldOutGains = folds.map((pick, held) => (pick === null ? 0 : (gains[pick]?.[held] ?? 0)));
    const medianGain = median(heldOutGains) ?? 0;
    const p99Harm = harmOf(bases, chosen === null ? bases : (own[chosen]?.days ?? bases));
    const failing = failingOf(bases.length, chosen, medianGain, p99Harm);
    return {
      parameter,
      set: chosen === null ? {} : (own[chosen]?.candidate.set ?? {}),
      heldOutGains,
      medianGain,
      agreeing: folds.filter((pick) => pick === chosen).length,
      p99Harm,
      passes: failing === null,
      why: failing ?? "passes",
    };
  });
}

function gainOf(base: DayResult | undefined, day: DayResult): number {
  const before = base?.weightedMeanWaitSeconds ?? 0;
  return before <= 0 ? 0 : 1 - day.weightedMeanWaitSeconds / before;
}

/** Which candidate gains most on the mean of these days; null: none gains at all. */
function bestOn(gains: readonly (readonly number[])[], days: readonly number[]): number | null {
  let best: number | null = null;
  let most = 0;
  for (const [i, own] of gains.entries()) {
    const mean = days.reduce((sum, day) => sum + (own[day] ?? 0), 0) / Math.max(1, days.length);
    if (mean <= most) continue;
    most = mean;
    best = i;
  }
  return best;
}

function harmOf(before: readonly DayResult[], after: readonly DayResult[]): Record<Band, number> {
  const p99 = (days: readonly DayResult[], band: Band): number =>
    quantile(Float64Array.from(days.flatMap(({ waits }) => [...waits[band]])).sort(), 0.99);
  return Object.fromEntries(
    BANDS.map((band) => {
      const [was, is] = [p99(before, band), p99(after, band)];
      if (is - was <= P99_SLACK_SECONDS) return [band, Math.min(0, was === 0 ? 0 : is / was - 1)];
      return [band, was === 0 ? Number.MAX_VALUE : is / was - 1];
    }),
  ) as Record<Band, number>;
}

function failingOf(
  days: number,
  chosen: number | null,
  gain: number,
  harm: Readonly<Record<Band, number>>,
): string | null {
  if (days < LEAST_DAYS) return `${days} days are not enough`;
  if (chosen === null) return "what holds now is best";
  if (gain < LEAST_GAIN)
    return `the median gain on held-out days is ${(gain * 100).toFixed(1)} %, under ${LEAST_GAIN * 100} %`;
  const band = BANDS.find((each) => harm[each] > MOST_P99_HARM);
  return band === undefined ? null : `the p99 of ${band} jobs becomes ${(harm[band] * 100).toFixed(0)} % worse`;
}
