// Whether a setting should be another: days of recorded traffic replayed under the settings that hold now and under
// candidates, each judged on days that had no part in choosing it. A report; it applies nothing.

import { ConfigError } from "../config/problem.ts";
import { readSetup } from "../config/setup.ts";
import { BANDS, type Band, bandOf } from "../domain/band.ts";
import type { SettingValues } from "../domain/tuning.ts";
import type { History, Range } from "../store/history.ts";
import { accountOf, fidelityOf, waitOf } from "./compare.ts";
import { type Outcome, recordedOutcome } from "./outcome.ts";
import { recordedWork } from "./recorded-work.ts";
import { readTraffic, type Traffic, TrafficError } from "./traffic.ts";
import { type Candidate, candidatesFor } from "./tune-parameters.ts";
import { type DayResult, judge, LEAST_DAYS, type ParameterVerdict, type Table } from "./tune-verdict.ts";
import { type Change, whatIf } from "./what-if.ts";

export const DAY_MS = 86_400_000;
/** A day with fewer jobs says little. */
export const LEAST_JOBS = 100;

export interface DayReport {
  readonly from: string;
  readonly jobs: number;
  readonly counted: boolean;
  /** Why it does not count, or how faithful its replay is. */
  readonly note: string;
}

export interface Curve {
  readonly parameter: string;
  readonly factor: number;
  readonly set: SettingValues;
  /** Means over the days. */
  readonly loadingShare: number;
  readonly weightedMeanWaitSeconds: number;
  readonly swaps: number;
  /** No other point has both less loading and less waiting. */
  readonly efficient: boolean;
}

export interface TuneReport {
  readonly object: "tune";
  readonly policy: string;
  readonly base: SettingValues;
  readonly days: readonly DayReport[];
  readonly countedDays: number;
  readonly curve: readonly Curve[];
  readonly parameters: readonly ParameterVerdict[];
  /** Null: change nothing. */
  readonly proposal: {
    readonly policy: string;
    readonly parameter: string;
    readonly set: SettingValues;
    readonly base: SettingValues;
  } | null;
  readonly verdict: string;
  /** Candidates that the configuration would refuse, with its words. */
  readonly refused: readonly string[];
}

export interface TuneOptions {
  /** Where the last day ends. */
  readonly endMs: number;
  readonly days: number;
  /** Told of each replay that is done. */
  readonly onProgress?: (text: string) => void;
}

interface Day {
  readonly report: DayReport;
  readonly base: DayResult;
  readonly others: ReadonlyMap<Candidate, DayResult>;
}

/** @throws {TrafficError} when there is nothing to go by at all */
export async function tune(history: History, { endMs, days, onProgress }: TuneOptions): Promise<TuneReport> {
  const now = await settingsNow(history, endMs, days);
  const candidates = candidatesFor(now.policy, now.settings);
  const refused = new Map<Candidate, string>();
  const reports: DayReport[] = [];
  const found: Day[] = [];
  for (let i = days; i >= 1; i--) {
    const range = { fromMs: endMs - i * DAY_MS, toMs: endMs - (i - 1) * DAY_MS };
    const day = await playDay(history, range, now, candidates, refused, onProgress);
    if ("base" in day) found.push(day);
    reports.push("base" in day ? day.report : day);
  }
  const tried = candidates.filter((candidate) => !refused.has(candidate));
  const table = {
    bases: found.map(({ base }) => base),
    others: tried.map((candidate) => ({ candidate, days: found.map(({ others }) => resultOf(others, candidate)) })),
  };
  const parameters = judge(table);
  const best = parameters.filter(({ passes }) => passes).sort((a, b) => b.medianGain - a.medianGain)[0];
  return {
    object: "tune",
    policy: now.policy,
    base: now.settings,
    days: reports,
    countedDays: found.length,
    curve: curveOf(table),
    parameters,
    proposal:
      best === undefined ? null : { policy: now.policy, parameter: best.parameter, set: best.set, base: now.settings },
    verdict: verdictOf(found.length, days, best),
    refused: [...refused.values()],
  };
}

interface Present {
  readonly policy: string;
  readonly settings: SettingValues;
}

/** What was in force at the end: that is what would be changed. */
async function settingsNow(history: History, endMs: number, days: number): Promise<Present> {
  const setups = await history.setups({ fromMs: endMs - days * DAY_MS, toMs: endMs });
  const last = setups.map(({ setup }) => readSetup(setup)).findLast((setup) => setup !== null);
  if (last == null)
    throw new TrafficError("The configuration that ran was not recorded, so there is nothing to compare with.");
  const { policy, ...settings } = last.effective;
  return { policy, settings };
}

async function playDay(
  history: History,
  range: Range,
  now: Present,
  candidates: readonly Candidate[],
  refused: Map<Candidate, string>,
  onProgress: TuneOptions["onProgress"],
): Promise<Day | DayReport> {
  const from = new Date(range.fromMs).toISOString();
  const unusable = (jobs: number, note: string): DayReport => ({ from, jobs, counted: false, note });
  let traffic: Traffic;
  try {
    traffic = await readTraffic(history, range);
  } catch (error) {
    if (error instanceof TrafficError) return unusable(0, error.message);
    throw error;
  }
  const recorded = recordedOutcome(traffic);
  const jobs = recorded.jobs.length;
  if (jobs < LEAST_JOBS) return unusable(jobs, `Fewer than ${LEAST_JOBS} jobs.`);
  const work = recordedWork(traffic);
  const play = (title: string, change: Change): Promise<Outcome> => whatIf(traffic, work, { title, change });
  const again = await play("as it ran", {});
  const fidelity = fidelityOf(recorded, again);
  if (!fidelity.faithful) return unusable(jobs, `Its replay is not faithful: ${fidelity.sentence}.`);
  const base = await play("base", { policy: now.policy, set: now.settings });
  const others = new Map<Candidate, DayResult>();
  for (const candidate of candidates) {
    if (refused.has(candidate)) continue;
    try {
      const set = { ...now.settings, ...candidate.set };
      others.set(candidate, dayResult(await play(candidate.parameter, { policy: now.policy, set })));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      refused.set(candidate, `${JSON.stringify(candidate.set)}: ${error.problems[0]?.text ?? error.message}`);
    }
    onProgress?.(`${from.slice(0, 10)}: ${others.size} of ${candidates.length} candidates`);
  }
  return { report: { from, jobs, counted: true, note: fidelity.sentence }, base: dayResult(base), others };
}

function dayResult(outcome: Outcome): DayResult {
  const { weightedMeanWaitSeconds, loadingShare, swaps } = accountOf(outcome);
  const waits = Object.fromEntries(
    BANDS.map((band) => {
      const own = outcome.jobs.filter(({ priority }) => bandOf(priority) === band);
      return [band, Float64Array.from(own.flatMap((job) => waitOf(job) ?? [])).sort()];
    }),
  ) as Record<Band, Float64Array>;
  return { weightedMeanWaitSeconds, loadingShare, swaps, waits };
}

function resultOf(others: ReadonlyMap<Candidate, DayResult>, candidate: Candidate): DayResult {
  const found = others.get(candidate);
  if (found === undefined) throw new Error(`${candidate.parameter} was not replayed on every day`);
  return found;
}

function curveOf({ bases, others }: Table): Curve[] {
  const mean = (days: readonly DayResult[], of: (day: DayResult) => number): number =>
    days.reduce((sum, day) => sum + of(day), 0) / Math.max(1, days.length);
  const point = (
    parameter: string,
    factor: number,
    set: SettingValues,
    days: readonly DayResult[],
  ): Omit<Curve, "efficient"> => ({
    parameter,
    factor,
    set,
    loadingShare: mean(days, (day) => day.loadingShare),
    weightedMeanWaitSeconds: mean(days, (day) => day.weightedMeanWaitSeconds),
    swaps: mean(days, (day) => day.swaps),
  });
  const points = [
    point("as it is", 1, {}, bases),
    ...others.map(({ candidate, days }) => point(candidate.parameter, candidate.factor, candidate.set, days)),
  ];
  return points.map((each) => ({
    ...each,
    efficient: !points.some(
      (other) =>
        other.loadingShare <= each.loadingShare &&
        other.weightedMeanWaitSeconds <= each.weightedMeanWaitSeconds &&
        (other.loadingShare < each.loadingShare || other.weightedMeanWaitSeconds < each.weightedMeanWaitSeconds),
    ),
  }));
}

function verdictOf(counted: number, days: number, best: ParameterVerdict | undefined): string {
  if (counted < LEAST_DAYS) {
    const more = LEAST_DAYS - counted;
    return `Change nothing: ${counted} of the last ${days} days can be counted, and ${LEAST_DAYS} are needed; ${more} more with at least ${LEAST_JOBS} jobs and a faithful replay are missing.`;
  }
  if (best === undefined)
    return "Change nothing: no setting gained a tenth on days that had no part in choosing it without making a band's p99 a tenth worse.";
  const gain = (best.medianGain * 100).toFixed(0);
  return `Try ${JSON.stringify(best.set)}: it took ${gain} % off the weighted mean wait on the median of ${counted} held-out days, and made no band's p99 a tenth worse. First in shadow: sir tune --apply.`;
}
