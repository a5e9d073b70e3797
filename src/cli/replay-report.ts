// What a replay says to people: a verdict with its losers, the table, who moved most.

import type { Account, Moved, Other, ReplayReport, Waits } from "../client/wire-replay.ts";
import { BANDS } from "../domain/band.ts";
import { quantity } from "../scheduler/wording.ts";
import { secondsText } from "../simulator/chart-svg.ts";
import { instantText } from "./instant.ts";
import type { Zone } from "./zone.ts";

type Cell = (account: Account) => string;

export function replayText(report: ReplayReport, zone: Zone): string {
  const { accounts, others, fidelity, notes } = report;
  const from = instantText(Date.parse(report.from), zone);
  const to = instantText(Date.parse(report.to), zone);
  const lines = [`${from} to ${to}, ${report.jobs} jobs, ${report.policy} ran (${report.source})`];
  if (fidelity !== null) lines.push(`fidelity: ${fidelity.sentence}.`);
  for (const note of notes) lines.push(`note: ${note}`);
  lines.push("", ...tableOf(accounts), "");
  for (const other of others) lines.push(...otherLines(other, accounts), "");
  if (others.length > 0)
    lines.push("Nothing was changed. A replay of one stretch is little evidence; `sir tune` looks at days.");
  for (const chart of report.charts) lines.push(`chart: ${chart}`);
  return lines.join("\n").trimEnd();
}

function tableOf(accounts: readonly Account[]): string[] {
  const rows: (readonly [name: string, cell: Cell])[] = [];
  for (const band of BANDS) {
    if (accounts.every(({ bands }) => bands[band].jobs === 0)) continue;
    rows.push(...waitRows(band, (account) => account.bands[band]));
  }
  const models = [...new Set(accounts.flatMap((account) => Object.keys(account.models)))];
  for (const model of models) {
    const of = (account: Account): Waits | undefined => account.models[model];
    rows.push([`${model}, mean and p99`, (each) => `${text(of(each)?.meanSeconds)} ${text(of(each)?.p99Seconds)}`]);
  }
  rows.push(
    ["weighted mean wait", (each) => text(each.weightedMeanWaitSeconds)],
    ["swaps", ({ swaps }) => String(swaps)],
    ["loading share", ({ loadingShare }) => `${(loadingShare * 100).toFixed(1)} %`],
    ["deadline misses", ({ deadlineMisses }) => String(deadlineMisses)],
    ["never started", ({ unserved }) => String(unserved)],
  );
  const table = [
    ["", ...accounts.map(({ title }) => title)],
    ...rows.map(([name, cell]) => [name, ...accounts.map(cell)]),
  ];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

function waitRows(name: string, of: (account: Account) => Waits): (readonly [string, Cell])[] {
  return [
    [`${name}, mean wait`, (account) => text(of(account).meanSeconds)],
    [`${name}, p50`, (account) => text(of(account).p50Seconds)],
    [`${name}, p99`, (account) => text(of(account).p99Seconds)],
    [`${name}, max`, (account) => text(of(account).maxSeconds)],
  ];
}

const text = (seconds: number | undefined): string => (seconds === undefined ? "-" : secondsText(seconds));

/** As they are counted: a second or more. */
const isMoved = ({ beforeSeconds, afterSeconds }: Moved): boolean => Math.abs(afterSeconds - beforeSeconds) >= 1;

function otherLines(other: Other, accounts: readonly Account[]): string[] {
  const after = accounts.find(({ title }) => title === other.title);
  const before = accounts.find(({ title }) => title === other.against);
  if (after === undefined || before === undefined) return [];
  const better = after.weightedMeanWaitSeconds < before.weightedMeanWaitSeconds;
  const verdict =
    `${other.title}: weighted mean wait ${text(before.weightedMeanWaitSeconds)} becomes ${text(after.weightedMeanWaitSeconds)}` +
    ` (${better ? "better" : "not better"}), swaps ${before.swaps} become ${after.swaps};` +
    ` ${quantity(other.gained, "job waits", "jobs wait")} at least 1 s less, ${quantity(other.lost, "waits", "wait")} at least 1 s more.`;
  const list = (word: string, moved: readonly Moved[]): string[] =>
    moved
      .filter(isMoved)
      .map(
        ({ id, model, band, beforeSeconds, afterSeconds }) =>
          `  ${word} ${id}  ${model}, ${band}: ${text(beforeSeconds)} becomes ${text(afterSeconds)}`,
      );
  return [verdict, ...list("lost  ", other.lostMost), ...list("gained", other.gainedMost)];
}
