// Charts as plain SVG text: what each device did over time, how long jobs waited, and points of a trade-off. Written by
// hand: three shapes of picture do not carry a drawing library.

import { BANDS, bandOf } from "../domain/band.ts";
import { waitOf } from "./compare.ts";
import type { Outcome, Spell } from "./outcome.ts";

const WIDTH = 1_200;
const LEFT = 150;
const RIGHT = 20;
const LANE = 18;
const FILL: Readonly<Record<Spell["kind"], string>> = { resident: "#7fb3d5", loading: "#e59866", unloading: "#b2babb" };
const LINES = ["#1f618d", "#7d3c98", "#b03a2e", "#1e8449", "#b7950b", "#424949"];
const TICK_SECONDS = [1, 3, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];
/** As many rectangles a lane; shorter spells side by side are drawn as one. */
const CELLS = WIDTH - LEFT - RIGHT;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const label = (x: number, y: number, text: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(text)}</text>`;

function drawing(height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n${parts.join("\n")}\n</svg>\n`;
}

/** One lane for each device and model, one block for each outcome, all on one axis. */
export function ganttSvg(outcomes: readonly Outcome[]): string {
  const parts: string[] = [];
  let y = 10;
  for (const outcome of outcomes) {
    parts.push(label(8, y + 12, `${outcome.title}: ${outcome.swaps} swaps`, 'font-weight="bold"'));
    y += 20;
    const lanes = [...new Set(outcome.spells.map(laneOf))].sort();
    for (const lane of lanes) {
      parts.push(label(8, y + 13, lane.slice(0, 24)));
      parts.push(...laneRects(outcome, lane, y));
      y += LANE + 2;
    }
    y += 12;
  }
  const [first] = outcomes;
  if (first !== undefined) parts.push(...timeAxis(first, y));
  const legend = Object.entries(FILL).map(
    ([kind, fill], i) =>
      `<rect x="${LEFT + i * 110}" y="${y + 26}" width="12" height="12" fill="${fill}"/>${label(LEFT + 18 + i * 110, y + 36, kind)}`,
  );
  return drawing(y + 48, [...parts, ...legend]);
}

const laneOf = ({ device, model }: Spell): string => `${device} ${model}`;

function laneRects({ spells, range }: Outcome, lane: string, y: number): string[] {
  const perCellMs = (range.toMs - range.fromMs) / CELLS;
  const own = spells.filter(
    (spell) => laneOf(spell) === lane && spell.toMs > range.fromMs && spell.fromMs < range.toMs,
  );
  const rects: string[] = [];
  // Loads last, so that a short one is not hidden.
  for (const kind of ["resident", "unloading", "loading"] as const) {
    let open: { from: number; to: number } | null = null;
    const close = (): void => {
      if (open === null) return;
      const width = Math.max(0.6, open.to - open.from);
      rects.push(
        `<rect x="${(LEFT + open.from).toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${LANE}" fill="${FILL[kind]}"/>`,
      );
    };
    for (const spell of own.filter((each) => each.kind === kind).sort((a, b) => a.fromMs - b.fromMs)) {
      const from = (Math.max(spell.fromMs, range.fromMs) - range.fromMs) / perCellMs;
      const to = (Math.min(spell.toMs, range.toMs) - range.fromMs) / perCellMs;
      if (open !== null && from - open.to < 0.5) open.to = Math.max(open.to, to);
      else {
        close();
        open = { from, to };
      }
    }
    close();
  }
  return rects;
}

function timeAxis({ range }: Outcome, y: number): string[] {
  const lengthMs = range.toMs - range.fromMs;
  return Array.from({ length: 7 }, (_, i) => {
    const atMs = range.fromMs + (lengthMs * i) / 6;
    const x = LEFT + (CELLS * i) / 6;
    const line = `<line x1="${x}" y1="4" x2="${x}" y2="${y}" stroke="#d5d8dc" stroke-width="0.5"/>`;
    return (
      line +
      label(
        x,
        y + 14,
        `${new Date(atMs).toISOString().slice(5, 16).replace("T", " ")}Z`,
        `text-anchor="${i === 6 ? "end" : "middle"}"`,
      )
    );
  });
}

/** For each band the share of its jobs that had started after so long; the time axis is logarithmic. */
export function waitsSvg(outcomes: readonly Outcome[]): string {
  const bands = BANDS.filter((band) =>
    outcomes.some(({ jobs }) => jobs.some(({ priority }) => bandOf(priority) === band)),
  );
  const height = 170;
  const parts = outcomes.map(({ title }, i) =>
    label(LEFT + i * 220, 16, title, `fill="${LINES[i % LINES.length]}" font-weight="bold"`),
  );
  const longest = Math.max(10, ...outcomes.flatMap(({ jobs }) => jobs.map((job) => waitOf(job) ?? 0)));
  const xOf = (seconds: number): number => LEFT + (CELLS * Math.log10(1 + seconds)) / Math.log10(1 + longest);
  for (const [row, band] of bands.entries()) {
    const top = 30 + row * (height + 30);
    parts.push(label(8, top + 14, band, 'font-weight="bold"'), ...waitAxis(top, height, longest, xOf));
    for (const [i, { jobs }] of outcomes.entries()) {
      const own = jobs.filter(({ priority }) => bandOf(priority) === band);
      const waits = own.flatMap((job) => waitOf(job) ?? []).sort((a, b) => a - b);
      const points = thinned(waits).map(
        ([seconds, count]) =>
          `${xOf(seconds).toFixed(1)},${(top + height - (height * count) / Math.max(1, own.length)).toFixed(1)}`,
      );
      parts.push(
        `<polyline points="${points.join(" ")}" fill="none" stroke="${LINES[i % LINES.length]}" stroke-width="1.5"/>`,
      );
    }
  }
  return drawing(40 + bands.length * (height + 30), parts);
}

function waitAxis(top: number, height: number, longest: number, xOf: (seconds: number) => number): string[] {
  const frame = `<rect x="${LEFT}" y="${top}" width="${CELLS}" height="${height}" fill="none" stroke="#aeb6bf"/>`;
  const ticks = TICK_SECONDS.filter((tick) => tick <= longest).map((tick) => {
    const x = xOf(tick).toFixed(1);
    const line = `<line x1="${x}" y1="${top}" x2="${x}" y2="${top + height}" stroke="#e5e7e9"/>`;
    return line + label(Number(x), top + height + 13, secondsText(tick), 'text-anchor="middle"');
  });
  const shares = [0, 0.5, 1].map((share) =>
    label(LEFT - 6, top + height - height * share + 4, `${share * 100} %`, 'text-anchor="end"'),
  );
  return [frame, ...ticks, ...shares];
}

/** Seconds and how many are not above them; at most 400 points. */
function thinned(sorted: readonly number[]): (readonly [number, number])[] {
  const step = Math.max(1, Math.floor(sorted.length / 400));
  return sorted.flatMap((seconds, i) => (i % step === 0 || i === sorted.length - 1 ? [[seconds, i + 1] as const] : []));
}

export function secondsText(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 3_600) return `${Number((seconds / 60).toFixed(1))} min`;
  return `${Number((seconds / 3_600).toFixed(1))} h`;
}

export interface CurvePoint {
  readonly label: string;
  /** Points of one series are joined. */
  readonly series: string;
  /** 0 to 1. */
  readonly loadingShare: number;
  readonly waitSeconds: number;
}

/** What an axis has to show: the values, with a tenth of room on either side. */
function reachOf(values: readonly number[]): { from: number; length: number } {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = Math.max((most - least) * 0.1, most * 0.01, 1e-6);
  return { from: Math.max(0, least - room), length: most - least + 2 * room };
}

/** Waiting against loading; the axes begin near the least. */
export function tradeOffSvg(points: readonly CurvePoint[]): string {
  const height = 420;
  const top = 20;
  const loading = reachOf(points.map(({ loadingShare }) => loadingShare));
  const wait = reachOf(points.map(({ waitSeconds }) => waitSeconds));
  const x = (share: number): number => LEFT + (CELLS * (share - loading.from)) / loading.length;
  const y = (seconds: number): number => top + height - (height * (seconds - wait.from)) / wait.length;
  const parts = [`<rect x="${LEFT}" y="${top}" width="${CELLS}" height="${height}" fill="none" stroke="#aeb6bf"/>`];
  for (let i = 0; i <= 5; i++) {
    const share = loading.from + (loading.length * i) / 5;
    const seconds = wait.from + (wait.length * i) / 5;
    parts.push(label(x(share), top + height + 14, `${(share * 100).toFixed(2)} %`, 'text-anchor="middle"'));
    parts.push(label(LEFT - 6, y(seconds) + 4, secondsText(seconds), 'text-anchor="end"'));
  }
  for (const [i, series] of [...new Set(points.map((point) => point.series))].entries()) {
    const color = LINES[i % LINES.length];
    const own = points.filter((point) => point.series === series);
    parts.push(label(LEFT + 10 + i * 200, top + height + 34, series, `fill="${color}" font-weight="bold"`));
    parts.push(
      `<polyline points="${own.map((point) => `${x(point.loadingShare).toFixed(1)},${y(point.waitSeconds).toFixed(1)}`).join(" ")}" fill="none" stroke="${color}" stroke-width="1"/>`,
    );
    for (const point of own) {
      parts.push(
        `<circle cx="${x(point.loadingShare).toFixed(1)}" cy="${y(point.waitSeconds).toFixed(1)}" r="3.5" fill="${color}"/>`,
      );
      parts.push(label(x(point.loadingShare) + 6, y(point.waitSeconds) - 5, point.label, `fill="${color}"`));
    }
  }
  parts.push(label(LEFT, top + height + 52, "share of the devices' time spent loading, against weighted mean wait"));
  return drawing(top + height + 62, parts);
}
