// `sir tune`: whether a setting should be another, from days of recorded traffic. A report; it applies nothing by itself.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { secondsText, tradeOffSvg } from "../simulator/chart-svg.ts";
import { TrafficError } from "../simulator/traffic.ts";
import { type TuneReport, tune as tuned } from "../simulator/tune.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { HISTORY_ARGS, openHistorySource } from "./history-source.ts";
import { parseInstant, parseSpan } from "./instant.ts";
import { routerClient, withRouter } from "./router-client.ts";
import { beginTrial, endTrial, showTrials } from "./tune-trial.ts";

const MOST_DAYS = 30;

export const tune = defineSirCommand({
  name: "tune",
  summary:
    "Say from recorded days whether a setting of the policy should be another, and draw waiting against loading.",
  examples: [
    ["sir tune", "the last seven days: what half, double and in between of each setting would have given"],
    ["sir tune --apply", "try the proposal: a day in shadow, then obeyed and watched; sir tune --back takes it back"],
    ["sir tune --days 14 --svg charts --json", "two weeks, as JSON, with the curve as a picture"],
  ],
  args: {
    days: {
      type: "string",
      valueHint: "N",
      default: "7",
      description: `How many days back, 1 to ${MOST_DAYS}; five with enough jobs are needed.`,
    },
    to: {
      type: "string",
      valueHint: "T",
      default: "now",
      description: "Where the last day ends: now, yesterday, 2026-03-01.",
    },
    apply: {
      type: "boolean",
      description: "Try the proposal, if there is one, in the running router: first in shadow, then watched.",
    },
    shadow: {
      type: "string",
      valueHint: "SPAN",
      default: "1d",
      description: "With --apply: how long it is only asked and not obeyed, e.g. 12h; a day by default.",
    },
    back: { type: "boolean", description: "Take back in the running router what is on trial or kept." },
    trials: { type: "boolean", description: "Show what became of proposals in the running router." },
    svg: { type: "string", valueHint: "DIR", description: "Write the curve into this folder." },
    ...HISTORY_ARGS,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    return withRouter(io, json, async () => {
      const router = routerClient(args, io);
      if (args["back"] === true) return endTrial(router, json, io);
      if (args["trials"] === true) return showTrials(router, json, io);
      const shadowMs = parseSpan(String(args["shadow"])) ?? 0;
      if (shadowMs <= 0) throw new UsageError("--shadow must be a span such as 12h or 1d.");
      const days = daysOf(String(args["days"]));
      const endMs = parseInstant(String(args["to"]), "to", io.clock.wallMs());
      const source = await openHistorySource(args, io);
      try {
        const report = await tuned(source.history, { endMs, days, onProgress: (text) => io.err(text) });
        const code = show(report, args["svg"], json, io);
        return args["apply"] === true ? await beginTrial(router, report, shadowMs / 1_000, io) : code;
      } catch (error) {
        if (error instanceof TrafficError) throw new UsageError(error.message);
        throw error;
      } finally {
        source.close();
      }
    });
  },
});

function daysOf(text: string): number {
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MOST_DAYS) return days;
  throw new UsageError(`--days must be a whole number from 1 to ${MOST_DAYS}; traffic is kept for thirty days.`);
}

function show(report: TuneReport, svg: unknown, json: boolean, io: Io): ExitCode {
  const chart = typeof svg === "string" ? writeCurve(resolve(io.cwd, svg), report) : null;
  io.out(json ? JSON.stringify({ ...report, chart }) : tuneText(report, chart));
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

function tuneText(report: TuneReport, chart: string | null): string {
  const { days, policy, countedDays, curve, parameters, verdict, refused } = report;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const lines = [`${policy}, ${countedDays} of ${days.length} days counted`];
  for (const { from, jobs, counted, note } of days)
    lines.push(
      `  ${from.slice(0, 16).replace("T", " ")}  ${String(jobs).padStart(6)} jobs  ${counted ? "" : "not counted: "}${note}`,
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
