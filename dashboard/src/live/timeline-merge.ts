// What the stream says of spans and moves, put into a timeline that was read before. Pure.

import type { DeltaWire, PauseRow, SpanRow, TimelineWire } from "../../../src/client/wire-live.ts";
import type { PauseWire } from "../../../src/client/wire-status.ts";

type TimelineNews = Pick<DeltaWire, "at" | "status" | "devices" | "spans" | "moves">;

/** The same object when the delta says nothing of it. */
export function withDelta(timeline: TimelineWire, delta: TimelineNews): TimelineWire {
  const { spans, moves } = delta;
  const pauses = withPauses(timeline.pauses, delta);
  if (spans.length === 0 && moves.length === 0 && pauses === timeline.pauses) return timeline;
  const known = new Set(timeline.moves.map(({ id }) => id));
  return {
    ...timeline,
    pauses,
    spans: spans.reduce(withSpan, timeline.spans),
    moves: [...timeline.moves, ...moves.filter(({ id }) => !known.has(id))],
  };
}

/**
 * A row takes the place of the one with the same beginning; one without length is none. A model does one thing at a time
 * on a device: what was still going on there ends where the new row begins.
 */
function withSpan(spans: readonly SpanRow[], row: SpanRow): readonly SpanRow[] {
  const [device, model, , fromMs, toMs] = row;
  const kept = spans.flatMap((each): SpanRow[] => {
    if (each[0] !== device || each[1] !== model) return [each];
    if (each[3] === fromMs) return [];
    if (each[4] !== null || each[3] > fromMs) return [each];
    return [[each[0], each[1], each[2], each[3], fromMs, each[5]]];
  });
  return toMs === fromMs ? kept : [...kept, row];
}

/** Of the router each frame tells, of a device its entry; under the router's pause a device's own is not told. */
function withPauses(pauses: readonly PauseRow[], { at, status, devices }: TimelineNews): readonly PauseRow[] {
  const atMs = at * 1000;
  return devices
    .filter(({ pause }) => pause?.scope !== "router")
    .reduce((rows, { id, pause }) => withPause(rows, id, pause, atMs), withPause(pauses, null, status.pause, atMs));
}

function withPause(
  pauses: readonly PauseRow[],
  device: string | null,
  pause: PauseWire | null,
  atMs: number,
): readonly PauseRow[] {
  const holds = pauses.some(([, toMs, of]) => toMs === null && of === device);
  if (holds === (pause !== null)) return pauses;
  if (pause !== null) return [...pauses, [pause.since * 1000, null, device, pause.who, pause.note]];
  return pauses.map(([fromMs, toMs, of, who, note]): PauseRow => {
    return [fromMs, toMs === null && of === device ? atMs : toMs, of, who, note];
  });
}
