// A comparison as a table for people: one block for each workload, one line for each rule.

import type { Band } from "../domain/band.ts";
import type { Row } from "./comparison.ts";

type Column = readonly [title: string, cell: (row: Row) => string];

const COLUMNS: readonly Column[] = [
  ["policy", ({ policy }) => policy],
  ["weighted s", (row) => seconds(row.weightedMeanWaitSeconds)],
  ["±", (row) => (row.seeds > 1 ? seconds(row.weightedMeanWaitDeviation) : "")],
  ["int p50", (row) => of(row, "interactive", "p50WaitSeconds")],
  ["p99", (row) => of(row, "interactive", "p99WaitSeconds")],
  ["norm p50", (row) => of(row, "normal", "p50WaitSeconds")],
  ["p99", (row) => of(row, "normal", "p99WaitSeconds")],
  ["batch p50", (row) => of(row, "batch", "p50WaitSeconds")],
  ["p99", (row) => of(row, "batch", "p99WaitSeconds")],
  ["max", (row) => seconds(row.maxWaitSeconds)],
  ["swaps", (row) => String(Math.round(row.swaps))],
  ["loading", (row) => percent(row.loadingShare)],
  ["late", (row) => percent(row.deadlineMissShare, 1)],
  ["unserved", (row) => String(Math.round(row.unserved))],
];

export function comparisonTable(rows: readonly Row[]): string {
  const workloads = [...new Set(rows.map(({ workload }) => workload))];
  const widths = COLUMNS.map(([title, cell]) => Math.max(title.length, ...rows.map((row) => cell(row).length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  const blocks = workloads.map((workload) => {
    const own = rows.filter((row) => row.workload === workload);
    const jobs = Math.round(own[0]?.jobs ?? 0);
    const seeds = own[0]?.seeds === 1 ? "1 seed" : `${own[0]?.seeds} seeds`;
    const heading = `${workload}: ${jobs} jobs, ${seeds}`;
    return [
      heading,
      line(COLUMNS.map(([title]) => title)),
      ...own.map((row) => line(COLUMNS.map(([, cell]) => cell(row)))),
    ];
  });
  return blocks.map((block) => block.join("\n")).join("\n\n");
}

/** How to read the columns. */
export const TABLE_NOTE =
  "Waits in seconds, from arrival to start; weighted 10 : 1 : 0.1 by band, ± between seeds. loading: loads and unloads, " +
  "share of the span. late: answered after 5 min, 1 h or 8 h by band, or not at all. unserved: jobs that never started.";

function of(row: Row, band: Band, key: "p50WaitSeconds" | "p99WaitSeconds"): string {
  const scored = row.bands[band];
  return scored === null ? "-" : seconds(scored[key]);
}

function seconds(value: number): string {
  if (value >= 100_000) return `${Math.round(value / 1_000)}k`;
  return value.toFixed(value < 100 ? 1 : 0);
}

function percent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)} %`;
}
