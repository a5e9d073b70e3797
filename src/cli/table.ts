// Rows for people and for programs: aligned and cut to the terminal on a terminal, tab-separated and whole off it.

import type { Io } from "./command.ts";
import { shortId } from "./record-id.ts";
import { cutMiddle, harmless, padded, widthOf, wrapped } from "./width.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand on the right. */
  readonly right?: boolean;
  /** May be cut in the middle to this many columns when the terminal is narrow; absent: never. */
  readonly least?: number;
  /** Left out on a terminal where all of it is `-`. */
  readonly sparse?: boolean;
  /** Left out on a terminal that is too narrow for all; the highest first. Absent: never. */
  readonly drop?: number;
  /** Holds ids, which are cut so that their end stays. */
  readonly ids?: boolean;
  /** Sentences; only of the last column. They go on below on a terminal. */
  readonly wraps?: boolean;
}

/** Sentences in less room than this go on a line of their own. */
const LEAST_SENTENCE = 32;

const GAP = "  ";
export const NONE = "-";

/** Prints a head and rows; without rows the head alone. */
export function printTable(io: Io, columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  io.out(tableText(io, columns, rows));
}

/** @param room In columns, where it is not the whole terminal. */
export function tableText(
  io: Io,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room = io.screen.size().columns,
): string {
  const clean = rows.map((row) => row.map((cell) => harmless(cell === "" ? NONE : cell)));
  const titles = columns.map(({ title }) => title);
  if (!io.screen.out) return [titles, ...clean].map((row) => row.join("\t")).join("\n");
  const shown = shownColumns(columns, [titles, ...clean], room);
  const keep = <T>(row: readonly T[]): T[] => row.filter((_, at) => shown[at]);
  return alignedRows(keep(columns), [keep(titles), ...clean.map(keep)], room, io.screen.unicode);
}

/** Without those that say nothing; then without those that may go, until the rest fits at its narrowest. */
function shownColumns(columns: readonly Column[], rows: readonly (readonly string[])[], room: number): boolean[] {
  const shown = columns.map(({ sparse }, at) => sparse !== true || rows.slice(1).some((row) => row[at] !== NONE));
  const narrowest = columns.map(({ least, wraps }, at) => {
    if (wraps === true) return 0;
    return Math.min(least ?? Number.POSITIVE_INFINITY, Math.max(...rows.map((row) => widthOf(row[at] ?? ""))));
  });
  const over = (): boolean => {
    const kept = narrowest.filter((_, at) => shown[at]);
    return sum(kept) + GAP.length * (kept.length - 1) > room;
  };
  const droppable = columns.map(({ drop = 0 }, at) => ({ drop, at })).filter(({ drop }) => drop > 0);
  for (const { at } of droppable.sort((a, b) => b.drop - a.drop)) if (over()) shown[at] = false;
  return shown;
}

function alignedRows(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room: number,
  unicode: boolean,
): string {
  const cells = columns.at(-1)?.wraps === true ? columns.slice(0, -1) : columns;
  const natural = cells.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ""))));
  const own = room - GAP.length * (cells.length - 1);
  const beside = fitted(natural, cells, own - GAP.length - LEAST_SENTENCE);
  // Cut for the sentences' sake only where that makes room for them.
  const helps = cells !== columns && sum(beside) <= own - GAP.length - LEAST_SENTENCE;
  const widths = helps ? beside : fitted(natural, cells, own);
  const mark = unicode ? "…" : "~";
  const lines = rows.map((row) => {
    const shown = cells.map(({ right, ids }, at) => {
      const width = widths[at] ?? 0;
      const text = row[at] ?? "";
      const cut = ids === true && text.includes("_") ? shortId(text, width, mark) : cutMiddle(text, width, mark);
      return padded(cut, width, right);
    });
    return shown.join(GAP);
  });
  if (cells === columns) return lines.map((line) => line.trimEnd()).join("\n");
  return lines
    .flatMap((line, at) => {
      const shown = besideOrBelow(line, rows[at]?.at(-1) ?? "", room);
      // A title that stood below would be taken for a row.
      return at === 0 ? shown.slice(0, 1) : shown;
    })
    .join("\n");
}

function besideOrBelow(line: string, sentence: string, room: number): string[] {
  if (sentence === NONE || sentence.trim() === "") return [line.trimEnd()];
  const indent = widthOf(line) + GAP.length;
  const beside = room - indent >= LEAST_SENTENCE;
  const [first = "", ...rest] = wrapped(sentence, beside ? room - indent : room - GAP.length);
  const below = (beside ? rest : [first, ...rest]).map((text) => (beside ? " ".repeat(indent) : GAP) + text);
  return [beside ? `${line}${GAP}${first}`.trimEnd() : line.trimEnd(), ...below];
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
