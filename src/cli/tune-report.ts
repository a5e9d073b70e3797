// What `sir tune` does: tries values on the recorded days, and prints what each would have given.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { secondsText, tradeOffSvg } from "../simulator/chart-svg.ts";
import { TrafficError } from "../simulator/traffic.ts";
import { type TuneReport, tune as tuned } from "../simulator/tune.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { HistorySource } from "./history-source.ts";
import { instantText } from "./instant.ts";

interface Wish {
  readonly endMs: number;
  readonly days: number;
  /** A folder for the curve. */
  readonly svg: unknown;
  readonly json: boolean;
}

/** @throws {UsageError} when there is no traffic */
export async function tuneFrom(
  source: HistorySource,
  { endMs, days, svg, json }: Wish,
  io: Io,
): Promise<{ readonly report: TuneReport; readonly code: ExitCode }> {
  try {
    const report = await tuned(source.history, { endMs, days, onProgress: (text) => io.err(text) });
    return { report, code: show(report, svg, json, io) };
  } catch (error) {
    if (error instanceof TrafficError) throw new UsageError(error.message);
    throw error;
  }
}

function show(report: TuneReport, svg: unknown, json: boolean, io: Io): ExitCode {
  const chart = typeof svg === "string" ? writeCurve(resolve(io.cwd, svg), report) : null;
  io.out(json ? JSON.stringify({ ...report, chart }) : tuneText(report, chart, io));
  return EXIT.done;
}

function writeCurve(folder: string, { curve, base }: TuneReport): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "waiting-against-loading.svg");
  const [present, ...others] = curve;
  const parameters = [...new Set(others.map(({ parameter }) => parameter))];
  const points = parameters.flatMap((parameter) =>
    [...others.filter((each) => each.parameter === parameter), ...(present === undefined ? [] : [present])]
      .sort((a, b) => a.factor - b.factor)
      .map((each) => ({
        series: parameter,
        label: valueText(each.set[parameter] ?? base[parameter]),
        loadingShare: each.loadingShare,
        waitSeconds: each.weightedMeanWaitSeconds,
      })),
  );
  writeFileSync(path, tradeOffSvg(points));
  return path;
}

function tuneText(report: TuneReport, chart: string | null, { zone }: Io): string {
  const { days, policy, countedDays, curve, parameters, verdict, refused } = report;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const lines = [`${policy}, ${countedDays} of ${days.length} days counted`];
  for (const { from, jobs, counted, note } of days)
    lines.push(
      `  ${instantText(Date.parse(from), zone).slice(0, 16)}  ${String(jobs).padStart(6)} jobs  ${counted ? "" : "not counted: "}${note}`,
    );
  if (countedDays > 0) {
    lines.push("", "waiting against loading, mean of the days (* : nothing has both less loading and less waiting)");
    for (const { parameter, set, loadingShare, weightedMeanWaitSeconds, swaps, efficient } of curve) {
      const name = `${parameter} ${valueText(set[parameter])}`.trim();
      lines.push(
        `${efficient ? "*" : " "} ${name.padEnd(32)} loading ${percent(loadingShare).padStart(6)}  weighted wait ${secondsText(weightedMeanWaitSeconds).padStart(9)}  swaps ${swaps.toFixed(0).padStart(5)}`,
      );
    }
    lines.push("", "each value chosen on all days but one, and judged on that one");
    for (const { parameter, medianGain, agreeing, set, why } of parameters)
      lines.push(
        `  ${parameter}: best ${valueText(set[parameter]) || "as it is"} (so on ${agreeing} of ${countedDays}), median gain ${percent(medianGain)}: ${why}`,
      );
  }
  for (const text of refused) lines.push(`  refused by the configuration: ${text}`);
  lines.push("", verdict);
  if (chart !== null) lines.push(`chart: ${chart}`);
  return lines.join("\n");
}

function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "object" ? Object.values(value ?? {}).join("/") : String(value);
}
