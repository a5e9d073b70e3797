// `GET /v1/timeline` and `GET /v1/series`: what devices did, and how long queues were. Rows come from the disk along an
// index; what goes on, and the last moments, from memory, so that a page is never behind.

import type { PauseRow, SeriesWire, TimelineWire } from "../client/wire-live.ts";
import { BANDS } from "../domain/band.ts";
import type { Grain, Span } from "../domain/change.ts";
import type { DeviceId } from "../domain/ids.ts";
import type { Minute } from "../domain/minute.ts";
import type { Pause } from "../domain/pause.ts";
import type { Window } from "../store/timeline-verbs.ts";
import { mayObserve } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { shownMs } from "./instants.ts";
import { SOMEBODY } from "./pause-wire.ts";
import { onlyKnown, readChoice, readInstant } from "./query.ts";
import { mergeSpans } from "./span-merge.ts";
import { moveWire, spanRow } from "./stream-content.ts";

const NO_STORE = { "cache-control": "no-store" };
const HOUR_MS = 3_600_000;
const LONGEST_MS = 8 * 24 * HOUR_MS;
/** A longer window is drawn from stretches to the minute. */
const FINE_MS = 6 * HOUR_MS;
/** Older than this, only those are kept. */
const FINE_AGE_MS = 47 * HOUR_MS;
const LANE_ROWS = 5_000;
const DEFAULT_PX = 1_000;
const MOVES_MAX = 300;
/** Two marks closer together than so many pixels are one. */
const MARK_PX = 3;

/** `GET /v1/timeline?from_ms=&to_ms=&px=&device=` */
export async function readTimeline(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, ["from_ms", "to_ms", "px", "device"]);
  const window = readWindow(c, world, 2 * HOUR_MS);
  const device = readDevice(c, world);
  const px = readWhole(c, "px", 100, 10_000, DEFAULT_PX);
  const asked = device === null ? window : { ...window, device };
  const pixelMs = (window.toMs - window.fromMs) / px;
  const [spans, moves, pauses, downtimes] = await Promise.all([
    spansOf(world, asked),
    world.store.timeline.moves(asked, MARK_PX * pixelMs, MOVES_MAX),
    world.store.history.pauses(window),
    world.store.downtimes(window.fromMs, window.toMs),
  ]);
  const nowMs = world.clock.nowMs();
  const own = pauses.filter(
    ({ scope, subject }) => scope === "router" || (scope === "device" && (device === null || subject === device)),
  );
  const observes = mayObserve(c);
  const answer: TimelineWire = {
    object: "timeline",
    from_ms: shownMs(world, window.fromMs),
    to_ms: shownMs(world, window.toMs),
    spans: mergeSpans(spans, pixelMs, nowMs).map((span) => spanRow(world, span)),
    moves: moves.flatMap((decision) => moveWire(decision) ?? []),
    pauses: own.map((pause) => pauseRow(world, pause, observes)),
    downtimes: downtimes.map(({ fromMs, toMs }) => [shownMs(world, fromMs), shownMs(world, toMs)]),
  };
  return c.json(answer, 200, NO_STORE);
}

function pauseRow(world: HttpWorld, { subject, who, note, fromMs, toMs }: Pause, observes: boolean): PauseRow {
  const endMs = toMs === null ? null : shownMs(world, toMs);
  return [shownMs(world, fromMs), endMs, subject, observes ? who : SOMEBODY, note];
}

async function spansOf(world: HttpWorld, window: Window): Promise<Span[]> {
  const fine = window.toMs - window.fromMs <= FINE_MS && window.fromMs >= world.clock.nowMs() - FINE_AGE_MS;
  const page = await world.store.timeline.spans(window, fine ? "fine" : "coarse", LANE_ROWS);
  // So many short stretches in a few hours are drawn to the minute too.
  if (!fine || !page.cut) return withLatest(world, window, fine ? "fine" : "coarse", page.spans);
  const coarse = await world.store.timeline.spans(window, "coarse", LANE_ROWS);
  return withLatest(world, window, "coarse", coarse.spans);
}

/** Memory is right where it and the disk both know a stretch. Only lanes that memory knows of are touched. */
function withLatest(world: HttpWorld, { fromMs, toMs, device }: Window, grain: Grain, stored: readonly Span[]): Span[] {
  const laneOf = (span: Span): string => `${span.device}\n${span.model}`;
  const latest = new Map<string, Span[]>();
  for (const span of world.engine.latest.spans(grain)) {
    if (device !== undefined && span.device !== device) continue;
    if (span.fromMs > toMs || (span.toMs !== null && span.toMs <= fromMs)) continue;
    latest.set(laneOf(span), [...(latest.get(laneOf(span)) ?? []), span]);
  }
  const spans: Span[] = [];
  for (let first = 0; first < stored.length; ) {
    const lane = laneOf(stored[first] as Span);
    let end = first + 1;
    while (end < stored.length && sameLane(stored[first], stored[end])) end++;
    const known = latest.get(lane) ?? [];
    const begins = new Set(known.map((span) => span.fromMs));
    for (const span of stored.slice(first, end)) if (!begins.has(span.fromMs)) spans.push(span);
    // What ended a moment ago and what goes on come after all of it, or nearly so.
    spans.push(...known);
    latest.delete(lane);
    first = end;
  }
  for (const known of latest.values()) spans.push(...known);
  return spans;
}

const sameLane = (a: Span | undefined, b: Span | undefined): boolean =>
  a?.device === b?.device && a?.model === b?.model;

/** Most points of a chart. */
const POINTS_MAX = 5_000;

/** `GET /v1/series?name=queue_depth&from_ms=&to_ms=&step_ms=` */
export async function readSeries(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, ["name", "from_ms", "to_ms", "step_ms"]);
  const name = readChoice(c, "name", ["queue_depth"], "queue_depth");
  const window = readWindow(c, world, 2 * HOUR_MS);
  const stepMs = 60_000 * Math.ceil(readWhole(c, "step_ms", 1, 24 * HOUR_MS, 60_000) / 60_000);
  const fromMs = Math.floor(window.fromMs / stepMs) * stepMs;
  const steps = Math.ceil((window.toMs - fromMs) / stepMs);
  if (steps > POINTS_MAX) {
    throw invalidQuery("step_ms", `"step_ms" is too short for this range: at most ${POINTS_MAX} points.`);
  }
  const stored = await world.store.timeline.minutes(fromMs, window.toMs);
  const columns = columnsOf([...stored, ...world.engine.latest.minutes()], fromMs, stepMs, steps);
  const answer: SeriesWire = { object: "series", name, step_ms: stepMs, ...columns };
  const at_ms = answer.at_ms.map((atMs) => shownMs(world, atMs));
  return c.json({ ...answer, at_ms }, 200, NO_STORE);
}

/** The most that waited at one moment of each step. */
function columnsOf(minutes: readonly Minute[], fromMs: number, stepMs: number, steps: number) {
  const column = (): number[] => Array<number>(steps).fill(0);
  const depths = { interactive: column(), normal: column(), batch: column() };
  for (const { atMs, band, queuedMax } of minutes) {
    const step = Math.floor((atMs - fromMs) / stepMs);
    if (step >= 0 && step < steps) depths[band][step] = Math.max(depths[band][step] ?? 0, queuedMax);
  }
  const at_ms = column().map((_, step) => fromMs + step * stepMs);
  return { at_ms, ...Object.fromEntries(BANDS.map((band) => [band, depths[band]])) } as {
    at_ms: number[];
  } & typeof depths;
}

/** Router time. @throws {SirError} invalid_query */
function readWindow(c: Call, world: HttpWorld, lengthMs: number): { fromMs: number; toMs: number } {
  const nowMs = world.clock.nowMs();
  const toMs = readInstant(c, world, "to_ms") ?? nowMs;
  const fromMs = readInstant(c, world, "from_ms") ?? toMs - lengthMs;
  if (fromMs >= toMs) throw invalidQuery("from_ms", '"from_ms" must lie before "to_ms".');
  if (toMs - fromMs > LONGEST_MS) throw invalidQuery("from_ms", "At most eight days are shown at once.");
  return { fromMs, toMs };
}

function readWhole(c: Call, name: string, least: number, most: number, absent: number): number {
  const text = c.req.query(name);
  if (text === undefined) return absent;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalidQuery(name, `"${name}" must be a whole number from ${least} to ${most}.`);
}

/** @throws {SirError} invalid_query for a device that is not configured */
export function readDevice(c: Call, world: HttpWorld): DeviceId | null {
  const text = c.req.query("device");
  if (text === undefined) return null;
  const { devices } = world.engine.status();
  const found = devices.find(({ device }) => device === text);
  if (found !== undefined) return found.device;
  throw invalidQuery("device", `"device" must be ${devices.map(({ device }) => device).join(" or ")}.`);
}
