// What `sir replay` does: reads the traffic, runs it once per choice of settings, and sets the outcomes side by side.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ReplayReport } from "../client/wire-replay.ts";
import { parsePolicies, parseSettings } from "../config/policy-words.ts";
import { ganttSvg, waitsSvg } from "../simulator/chart-svg.ts";
import type { Outcome } from "../simulator/outcome.ts";
import { policyThatRan, sideBySide, titleOf } from "../simulator/side-by-side.ts";
import { readTraffic, type Traffic, TrafficError } from "../simulator/traffic.ts";
import type { Change } from "../simulator/what-if.ts";
import type { Range } from "../store/history.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { HistorySource } from "./history-source.ts";
import { instantText, parseInstant } from "./instant.ts";
import { replayText } from "./replay-report.ts";

const DAY_MS = 86_400_000;
/** Progress is said to be going on once a run is this far along, each time. */
const PROGRESS_SHARE = 0.25;

export async function replayFrom(source: HistorySource, args: Args, json: boolean, io: Io): Promise<ExitCode> {
  const range = readRange(args, io);
  const traffic = await trafficOf(source, range, io);
  const changes = changesOf(args, policyThatRan(traffic));
  const { report: compared, outcomes } = await sideBySide(traffic, {
    range,
    source: source.name,
    changes: changes.map((change) => ({ title: titleOf(change), ...change })),
    again: args["fidelity"] !== false || args["check"] === true,
    onProgress: saying(io),
  });
  const [recorded] = outcomes;
  const charts =
    typeof args["svg"] === "string" && recorded !== undefined
      ? writeCharts(resolve(io.cwd, args["svg"]), outcomes, recorded)
      : [];
  const report: ReplayReport = { ...compared, charts };
  io.out(json ? JSON.stringify(report) : replayText(report, io.zone));
  return args["check"] === true && report.fidelity?.faithful === false ? EXIT.fault : EXIT.done;
}

type Args = Readonly<Record<string, unknown>>;

function readRange(args: Args, io: Io): Range {
  const nowMs = io.clock.wallMs();
  const toMs = parseInstant(String(args["to"]), "to", nowMs);
  const fromMs = args["from"] === undefined ? toMs - DAY_MS : parseInstant(String(args["from"]), "from", nowMs);
  if (fromMs < toMs) return { fromMs, toMs };
  throw new UsageError(
    `--from (${instantText(fromMs, io.zone)}) must lie before --to (${instantText(toMs, io.zone)}).`,
  );
}

/** @throws {UsageError} with what the store does hold */
async function trafficOf({ history, name }: HistorySource, range: Range, io: Io): Promise<Traffic> {
  io.err(`reading ${name} …`);
  try {
    return await readTraffic(history, range);
  } catch (error) {
    if (!(error instanceof TrafficError)) throw error;
    const span = await history.span();
    const held =
      span === null
        ? "It holds no job at all."
        : `It holds jobs from ${instantText(span.fromMs, io.zone)} to ${instantText(span.toMs, io.zone)}.`;
    throw new UsageError(`${error.message} ${held}`);
  }
}

function changesOf(args: Args, ran: string): Change[] {
  const policies = typeof args["policy"] === "string" ? parsePolicies(args["policy"]) : [];
  const words = [args["set"] ?? []].flat().map(String);
  const set = parseSettings(words, policies.length === 0 ? [ran] : policies);
  if (policies.length > 0) return policies.map((policy) => ({ policy, set }));
  return words.length === 0 ? [] : [{ set }];
}

/** Says on standard error how far each run is, quarter by quarter. */
function saying(io: Io): (title: string, share: number) => void {
  const said = new Map<string, number>();
  return (title, share) => {
    if (share - (said.get(title) ?? 0) < PROGRESS_SHARE) return;
    said.set(title, share);
    io.err(`${title}: ${Math.round(share * 100)} %`);
  };
}

function writeCharts(folder: string, outcomes: readonly Outcome[], recorded: Outcome): string[] {
  mkdirSync(folder, { recursive: true });
  const charts = [
    [join(folder, "devices.svg"), ganttSvg(outcomes)],
    [join(folder, "waits.svg"), waitsSvg(outcomes)],
  ] as const;
  if (recorded.jobs.length > 0) for (const [path, svg] of charts) writeFileSync(path, svg);
  return charts.map(([path]) => path);
}
