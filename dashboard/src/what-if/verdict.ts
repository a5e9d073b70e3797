// What other settings would have done, as a sentence that names who loses as well as who gains. Pure.

import type { Account, Fidelity, ReplayReport, Waits } from "../../../src/client/wire-replay.ts";
import { duration, jobs, listed, percent } from "../../../src/scheduler/wording.ts";
import { type Sides, sidesOf } from "./report.ts";

const BANDS = ["interactive", "normal", "batch"] as const;
/** A change below both is none. */
const LEAST_SECONDS = 1;
const LEAST_SHARE = 0.05;
const FEW_JOBS = 50;

/** Whether a wait moved enough to speak of; -1: shorter, 1: longer. */
export function shift(before: number, after: number): -1 | 0 | 1 {
  const change = after - before;
  if (Math.abs(change) < Math.max(LEAST_SECONDS, before * LEAST_SHARE)) return 0;
  return change < 0 ? -1 : 1;
}

/** @param labelOf A model's short name. */
export function verdictOf(report: ReplayReport, labelOf: (model: string) => string): string {
  const sides = sidesOf(report);
  if (sides === null) return "The replay gave no account.";
  if (sides.other === null)
    return "These are the settings that ran. Change one to see whom it would have helped, and whom it would have hurt.";
  return [bandsSentence(sides), jobsSentence(sides.other), losersSentence(sides, labelOf), ...costSentences(sides)]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** Below so many jobs a replay says little. */
export const isThin = ({ jobs: count }: ReplayReport): boolean => count < FEW_JOBS;

function bandsSentence({ before, after }: Sides): string {
  const moves = BANDS.flatMap((band) => {
    const [was, is] = [before.bands[band], after.bands[band]];
    if (was.jobs === 0) return [];
    const p99 = shift(was.p99Seconds, is.p99Seconds);
    const mean = shift(was.meanSeconds, is.meanSeconds);
    if (p99 === 0 && mean === 0) return [];
    const [name, from, to] =
      p99 === 0
        ? (["mean", was.meanSeconds, is.meanSeconds] as const)
        : (["p99", was.p99Seconds, is.p99Seconds] as const);
    return [
      `the ${name} wait of ${band} jobs ${to < from ? "falls" : "rises"} from ${seconds(from)} to ${seconds(to)}`,
    ];
  });
  if (moves.length === 0) return "No band's waits would have moved by more than 5 %.";
  return `${capital(moves.join("; "))}.`;
}

function jobsSentence({ gained, lost }: NonNullable<Sides["other"]>): string {
  if (gained === 0 && lost === 0) return "Not one job would have waited a second less or more.";
  const less = gained === 0 ? "Nobody would have waited less" : `${jobs(gained)} would have waited less`;
  return `${less}, ${lost === 0 ? "nobody longer" : `${lost} longer`}.`;
}

/** The models whose jobs lose most on average, two at most. */
function losersSentence({ before, after, other }: Sides, labelOf: (model: string) => string): string {
  if (other === null || other.lost === 0) return "";
  const losers = Object.entries(before.models)
    .flatMap(([model, was]): (readonly [string, Waits, Waits])[] => {
      const is = after.models[model];
      return is === undefined || shift(was.meanSeconds, is.meanSeconds) !== 1 ? [] : [[model, was, is]];
    })
    .sort((a, b) => b[2].meanSeconds - b[1].meanSeconds - (a[2].meanSeconds - a[1].meanSeconds))
    .slice(0, 2)
    .map(([model, was, is]) => `${labelOf(model)} (mean ${seconds(was.meanSeconds)} to ${seconds(is.meanSeconds)})`);
  if (losers.length > 0) return `The losers are jobs of ${listed(losers)}.`;
  const [most] = other.lostMost;
  if (most === undefined) return "";
  return `The hardest hit waits ${seconds(most.afterSeconds)} instead of ${seconds(most.beforeSeconds)} (${labelOf(most.model)}, ${most.band}).`;
}

function costSentences({ before, after }: Sides): string[] {
  const swaps =
    before.swaps === after.swaps
      ? `${after.swaps === 1 ? "1 swap" : `${after.swaps} swaps`} either way`
      : `${after.swaps} swaps instead of ${before.swaps}`;
  const share =
    Math.abs(after.loadingShare - before.loadingShare) < 0.005
      ? `${percent(after.loadingShare)} of the time goes into loading, as before`
      : `${percent(after.loadingShare)} of the time goes into loading instead of ${percent(before.loadingShare)}`;
  return [`${capital(swaps)}; ${share}.`, missed(before, after), unserved(before, after)];
}

function missed(before: Account, after: Account): string {
  const more = after.deadlineMisses - before.deadlineMisses;
  if (more === 0) return "";
  return `${jobs(Math.abs(more))} ${more > 0 ? "more" : "fewer"} would have missed a deadline.`;
}

function unserved(before: Account, after: Account): string {
  const more = after.unserved - before.unserved;
  if (more === 0) return "";
  return `${jobs(Math.abs(more))} ${more > 0 ? "more" : "fewer"} would never have started.`;
}

const seconds = (value: number): string => duration(value * 1000);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** From this share on, jobs start when they did. */
const MOST = 0.9;

/** How far a replay of the settings that ran can be believed: its sums, and its single jobs. */
export function trustWords({ faithful, withinOneSecond }: Pick<Fidelity, "faithful" | "withinOneSecond">): string {
  if (!faithful) return "! Read this with doubt";
  return withinOneSecond >= MOST
    ? "✓ This can be trusted"
    : "✓ Trust the sums and means, not what single jobs would wait";
}
