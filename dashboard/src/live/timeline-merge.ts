// What the stream says of spans and moves, put into a timeline that was read before. Pure.

import type { DeltaWire, SpanRow, TimelineWire } from "../../../src/client/wire-live.ts";

/** The same object when the delta says nothing of it. */
export function withDelta(timeline: TimelineWire, { spans, moves }: Pick<DeltaWire, "spans" | "moves">): TimelineWire {
  if (spans.length === 0 && moves.length === 0) return timeline;
  const known = new Set(timeline.moves.map(({ id }) => id));
  return {
    ...timeline,
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
