// Two outcomes of the same traffic side by side: waits by band and model, swaps, loading, deadlines, who gained and who
// lost; and how far a replay of the settings that ran is from what happened.

import type { Account, Fidelity, Moved, Waits } from "../client/wire-replay.ts";
import { BAND_WEIGHT, BANDS, type Band, bandOf } from "../domain/band.ts";
import type { JobOutcome, Outcome, Spell } from "./outcome.ts";

/** A replay is called faithful within these; a difference below the absolute bound is none. */
export const FAITHFUL = { meanShare: 0.05, meanSeconds: 0.5, swapShare: 0.05, swaps: 1 } as const;

export function accountOf(outcome: Outcome): Account {
  const { jobs, range, devices } = outcome;
  const models = [...new Set(jobs.map(({ model }) => model))].sort();
  const elapsedMs = (range.toMs - range.fromMs) * devices;
  const loadingMs = outcome.spells.reduce(
    (sum, spell) => sum + (spell.kind === "resident" ? 0 : clipped(spell, outcome)),
    0,
  );
  return {
    title: outcome.title,
    all: waitsOf(jobs),
    bands: Object.fromEntries(
      BANDS.map((band) => [band, waitsOf(jobs.filter(({ priority }) => bandOf(priority) === band))]),
    ) as Record<Band, Waits>,
    models: Object.fromEntries(models.map((name) => [name, waitsOf(jobs.filter(({ model }) => model === name))])),
    weightedMeanWaitSeconds: weightedMean(jobs),
    swaps: outcome.swaps,
    loads: outcome.loads,
    loadingShare: elapsedMs <= 0 ? 0 : loadingMs / elapsedMs,
    deadlineMisses: jobs.filter(missesDeadline).length,
    unserved: jobs.filter(({ startedAtMs }) => startedAtMs === null).length,
  };
}

/** In seconds; null: it never started. */
export function waitOf({ acceptedAtMs, startedAtMs }: JobOutcome): number | null {
  return startedAtMs === null ? null : Math.max(0, startedAtMs - acceptedAtMs) / 1_000;
}

function waitsOf(jobs: readonly JobOutcome[]): Waits {
  const waits = jobs.flatMap((job) => waitOf(job) ?? []).sort((a, b) => a - b);
  return {
    jobs: jobs.length,
    unserved: jobs.length - waits.length,
    meanSeconds: waits.length === 0 ? 0 : waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    p50Seconds: quantile(waits, 0.5),
    p99Seconds: quantile(waits, 0.99),
    maxSeconds: waits.at(-1) ?? 0,
  };
}

/** The smallest value that at least this share does not exceed. @param sorted Ascending. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function weightedMean(jobs: readonly JobOutcome[]): number {
  let sum = 0;
  let weights = 0;
  for (const job of jobs) {
    const wait = waitOf(job);
    if (wait === null) continue;
    const weight = BAND_WEIGHT[bandOf(job.priority)];
    sum += weight * wait;
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

function missesDeadline({ deadlineAtMs, finishedAtMs, status }: JobOutcome): boolean {
  if (deadlineAtMs === null) return false;
  return status !== "succeeded" || finishedAtMs === null || finishedAtMs > deadlineAtMs;
}

function clipped({ fromMs, toMs }: Spell, { range }: Outcome): number {
  return Math.max(0, Math.min(toMs, range.toMs) - Math.max(fromMs, range.fromMs));
}

/** Who waits longer and who less: the `most` largest changes each way, largest first. */
export function movedMost(before: Outcome, after: Outcome, most: number): { gained: Moved[]; lost: Moved[] } {
  const other = new Map(after.jobs.map((job) => [job.id, job]));
  const moved = before.jobs.flatMap((job): (Moved & { change: number })[] => {
    const beforeSeconds = waitOf(job);
    const match = other.get(job.id);
    const afterSeconds = match === undefined ? null : waitOf(match);
    if (beforeSeconds === null || afterSeconds === null) return [];
    const change = afterSeconds - beforeSeconds;
    return [{ id: job.id, model: job.model, band: bandOf(job.priority), beforeSeconds, afterSeconds, change }];
  });
  moved.sort((a, b) => a.change - b.change);
  const strip = ({ change: _, ...each }: Moved & { change: number }): Moved => each;
  return {
    gained: moved
      .filter(({ change }) => change < 0)
      .slice(0, most)
      .map(strip),
    lost: moved
      .filter(({ change }) => change > 0)
      .slice(-most)
      .reverse()
      .map(strip),
  };
}

/** How many jobs wait at least a second less, and at least a second more. */
export function movedCounts(before: Outcome, after: Outcome): { gained: number; lost: number } {
  const { gained, lost } = movedMost(before, after, Number.MAX_SAFE_INTEGER);
  const much = ({ beforeSeconds, afterSeconds }: Moved): boolean => Math.abs(afterSeconds - beforeSeconds) >= 1;
  return { gained: gained.filter(much).length, lost: lost.filter(much).length };
}

/** @param replayed Of the settings that ran. */
export function fidelityOf(recorded: Outcome, replayed: Outcome): Fidelity {
  const other = new Map(replayed.jobs.map((job) => [job.id, job]));
  const pairs = recorded.jobs.flatMap((job): (readonly [number, number])[] => {
    const was = waitOf(job);
    const match = other.get(job.id);
    const is = match === undefined ? null : waitOf(match);
    return was === null || is === null ? [] : [[was, is]];
  });
  const mean = (pick: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[pick], 0) / Math.max(1, pairs.length);
  const errors = pairs.map(([was, is]) => Math.abs(was - is)).sort((a, b) => a - b);
  const recordedMeanWaitSeconds = mean(0);
  const replayedMeanWaitSeconds = mean(1);
  const apart = Math.abs(replayedMeanWaitSeconds - recordedMeanWaitSeconds);
  const meanError = apart === 0 ? 0 : apart / Math.max(recordedMeanWaitSeconds, Number.MIN_VALUE);
  const swapsApart = Math.abs(replayed.swaps - recorded.swaps);
  const faithful =
    (meanError <= FAITHFUL.meanShare || apart <= FAITHFUL.meanSeconds) &&
    swapsApart <= Math.max(FAITHFUL.swaps, recorded.swaps * FAITHFUL.swapShare);
  const withinOneSecond = errors.filter((error) => error <= 1).length / Math.max(1, errors.length);
  const facts = {
    recordedSwaps: recorded.swaps,
    replayedSwaps: replayed.swaps,
    recordedMeanWaitSeconds,
    replayedMeanWaitSeconds,
    meanError,
    medianErrorSeconds: quantile(errors, 0.5),
    withinOneSecond,
    faithful,
  };
  return { ...facts, sentence: sentenceOf(facts) };
}

function sentenceOf(facts: Omit<Fidelity, "sentence">): string {
  const { recordedSwaps, replayedSwaps, meanError, withinOneSecond, faithful } = facts;
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  const near = `${replayedSwaps} ${replayedSwaps === 1 ? "swap" : "swaps"} for ${recordedSwaps}, mean wait ${seconds(facts.replayedMeanWaitSeconds)} for ${seconds(facts.recordedMeanWaitSeconds)}`;
  const share = Number.isFinite(meanError) && meanError < 10 ? ` (${(meanError * 100).toFixed(1)} %)` : "";
  const verdict = faithful ? "" : ": NOT faithful, read the rest with doubt";
  return `with the settings that ran the replay gives ${near}${share}; ${(withinOneSecond * 100).toFixed(1)} % of the jobs start within 1 s of when they did${verdict}`;
}
