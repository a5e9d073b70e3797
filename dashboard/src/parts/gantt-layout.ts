// Where everything of a Gantt chart lies: a scale from instants to pixels, lanes one under the other, decisions that
// would touch drawn as one. Pure, in pixels and milliseconds.

import type { MoveWire, SpanPhase, SpanRow } from "../../../src/client/wire-live.ts";

export interface LaneModel {
  readonly id: string;
  readonly label: string;
}

export interface LaneDevice {
  readonly id: string;
  /** Beside the name, e.g. `119 GiB`. */
  readonly about?: string;
  readonly models: readonly LaneModel[];
}

export interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
  /** First pixel of the time's part. */
  readonly left: number;
  readonly width: number;
  /** Held within the time's part. */
  x(ms: number): number;
  /** The other way round. */
  atMs(x: number): number;
}

export function scaleOf(fromMs: number, toMs: number, left: number, width: number): Scale {
  const span = Math.max(1, toMs - fromMs);
  const x = (ms: number): number => left + (Math.min(toMs, Math.max(fromMs, ms)) - fromMs) * (width / span);
  const atMs = (at: number): number => fromMs + ((at - left) * span) / Math.max(1, width);
  return { fromMs, toMs, left, width, x, atMs };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((count) => count * MINUTE),
];
const LABEL_PX = 62;

/** Instants at whole local times, as dense as labels allow. `offsetMinutes` as of `Date.getTimezoneOffset()`. */
export function ticksOf({ fromMs, toMs, width }: Scale, offsetMinutes: number): { atMs: number[]; stepMs: number } {
  const stepMs = STEPS_MS.find((step) => ((toMs - fromMs) / step) * LABEL_PX <= width) ?? 1440 * MINUTE;
  const shift = offsetMinutes * MINUTE;
  const atMs: number[] = [];
  for (let at = Math.ceil((fromMs - shift) / stepMs) * stepMs + shift; at <= toMs; at += stepMs) atMs.push(at);
  return { atMs, stepMs };
}

export interface Heights {
  readonly axis: number;
  /** Of a device's rail with its decisions. */
  readonly rail: number;
  readonly lane: number;
  readonly gap: number;
}

interface Lane extends LaneModel {
  readonly y: number;
}

export interface DeviceLanes {
  readonly id: string;
  readonly about: string;
  readonly y: number;
  readonly lanes: readonly Lane[];
  readonly bottom: number;
}

export function lanesOf(devices: readonly LaneDevice[], { axis, rail, lane, gap }: Heights): DeviceLanes[] {
  let y = axis;
  return devices.map(({ id, about = "", models }) => {
    const top = y;
    const lanes = models.map((model, index) => ({ ...model, y: top + rail + index * lane }));
    const bottom = top + rail + models.length * lane;
    y = bottom + gap;
    return { id, about, y: top, lanes, bottom };
  });
}

export interface Bar {
  readonly phase: SpanPhase;
  readonly x: number;
  readonly width: number;
}

/** What lies in sight of one model on one device; what goes on ends at `nowMs`. */
export function barsOf(spans: readonly SpanRow[], device: string, model: string, scale: Scale, nowMs: number): Bar[] {
  const untilMs = Math.min(scale.toMs, nowMs);
  return spans.flatMap(([onDevice, ofModel, phase, fromMs, endMs]) => {
    const toMs = Math.min(endMs ?? untilMs, untilMs);
    if (onDevice !== device || ofModel !== model || toMs <= scale.fromMs || fromMs >= untilMs) return [];
    const x = scale.x(fromMs);
    return [{ phase, x, width: Math.max(1, scale.x(toMs) - x) }];
  });
}

/** How far beside a bar one may point, in pixels. */
const REACH_PX = 2;

/** The bar that is pointed at: of those under the pixel the one that begins last; null: none. */
export function barAt(
  spans: readonly SpanRow[],
  { device, model, phase }: { readonly device: string; readonly model: string; readonly phase: string },
  scale: Scale,
  x: number,
  nowMs: number,
): SpanRow | null {
  const [from, to] = [scale.atMs(x - REACH_PX), scale.atMs(x + REACH_PX)];
  const under = spans.filter(
    (row) => row[0] === device && row[1] === model && row[2] === phase && row[3] <= to && (row[4] ?? nowMs) >= from,
  );
  return under.reduce<SpanRow | null>((last, row) => (last === null || row[3] > last[3] ? row : last), null);
}

export interface Mark {
  /** Of the first decision in it: it stays while others join. */
  readonly id: string;
  /** Oldest first. */
  readonly moves: readonly MoveWire[];
  readonly x: number;
}

const MARK_PX = 19;

/**
 * One mark for decisions that would touch; it stands where the first of them does. Gathered over all that are known, not
 * only over those in sight, so that marks do not jump from group to group while the picture moves.
 */
export function marksOf(moves: readonly MoveWire[], device: string, scale: Scale): Mark[] {
  const apartMs = (MARK_PX * (scale.toMs - scale.fromMs)) / Math.max(1, scale.width);
  const groups: MoveWire[][] = [];
  for (const move of moves.filter((each) => each.device === device).toSorted((a, b) => a.at_ms - b.at_ms)) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && move.at_ms - group[0].at_ms < apartMs) group.push(move);
    else groups.push([move]);
  }
  return groups.flatMap((group): Mark[] => {
    const first = group[0] as MoveWire;
    if (first.at_ms < scale.fromMs || first.at_ms > scale.toMs) return [];
    return [{ id: first.id, moves: group, x: scale.x(first.at_ms) }];
  });
}

/** Cut in the middle, where names of models differ least. */
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}
