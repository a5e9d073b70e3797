// Rows for people and for programs: aligned and cut to the terminal on a terminal, tab-separated and whole off it.

import type { Io } from "./command.ts";
import { cutMiddle, harmless, padded, widthOf } from "./width.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand on the right. */
  readonly right?: boolean;
  /** May be cut in the middle to this many columns when the terminal is narrow; absent: never. */
  readonly least?: number;
  /** Left out on a terminal where all of it is `-`. */
  readonly sparse?: boolean;
}

const GAP = "  ";
export const NONE = "-";

/** Prints a head and rows; without rows the head alone. */
export function printTable(io: Io, columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  io.out(tableText(io, columns, rows));
}

export function tableText(io: Io, columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map((cell) => harmless(cell === "" ? NONE : cell)));
  const titles = columns.map(({ title }) => title);
  if (!io.screen.out) return [titles, ...clean].map((row) => row.join("\t")).join("\n");
  const shown = columns.map((column, at) => column.sparse !== true || clean.some((row) => row[at] !== NONE));
  const keep = <T>(row: readonly T[]): T[] => row.filter((_, at) => shown[at]);
  return alignedRows(keep(columns), [keep(titles), ...clean.map(keep)], io.screen.size().columns, io.screen.unicode);
}

function alignedRows(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room: number,
  unicode: boolean,
): string {
  const natural = columns.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ""))));
  const widths = fitted(natural, columns, room - GAP.length * (columns.length - 1));
  const mark = unicode ? "…" : "~";
  return rows
    .map((row) =>
      columns
        .map(({ right }, at) => padded(cutMiddle(row[at] ?? "", widths[at] ?? 0, mark), widths[at] ?? 0, right))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** Takes from the widest column that may still give, until all fit or none may. */
function fitted(natural: readonly number[], columns: readonly Column[], room: number): number[] {
  const widths = [...natural];
  for (let over = sum(widths) - room; over > 0; over--) {
    let widest = -1;
    for (const [at, { least }] of columns.entries()) {
      const width = widths[at] ?? 0;
      if (least !== undefined && width > least && width > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
