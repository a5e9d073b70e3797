// Makes a timeline fit a picture: stretches that would be narrower than a pixel are put together, and the one that took
// most of that time stands for them.

import type { Span } from "../domain/change.ts";

/** At most so many come back, whatever came in. */
export const SPANS_MAX = 2_000;

/** Several short stretches, as one. */
interface Run {
  readonly fromMs: number;
  toMs: number;
  readonly first: Span;
  readonly ms: Map<Span["phase"], { ms: number; readonly of: Span }>;
}

/**
 * @param spans Lane by lane, oldest first in each.
 * @param nowMs Where those that go on are drawn to.
 */
export function mergeSpans(spans: readonly Span[], pixelMs: number, nowMs: number): Span[] {
  for (let widthMs = Math.max(1, pixelMs); ; widthMs *= 2) {
    const merged = mergedAt(spans, widthMs, nowMs);
    // With more lanes than that, or as much that goes on, no width is enough.
    if (merged.length <= SPANS_MAX || widthMs > nowMs) return merged.slice(0, SPANS_MAX);
  }
}

function mergedAt(spans: readonly Span[], widthMs: number, nowMs: number): Span[] {
  const merged: Span[] = [];
  let run: Run | null = null;
  const close = (): void => {
    if (run !== null) merged.push(asSpan(run));
    run = null;
  };
  for (const span of spans) {
    const toMs = span.toMs ?? nowMs;
    if (span.toMs === null || toMs - span.fromMs >= widthMs) {
      close();
      merged.push(span);
      continue;
    }
    const current: Run | null = run;
    if (current !== null && !joins(current, span, widthMs)) close();
    run = added(run, span, toMs);
  }
  close();
  return merged;
}

/** The run is not a pixel wide yet, and the gap between is none that could be seen. */
function joins({ fromMs, toMs, first }: Run, span: Span, widthMs: number): boolean {
  const sameLane = first.device === span.device && first.model === span.model;
  return sameLane && toMs - fromMs < widthMs && span.fromMs - toMs < widthMs;
}

function added(run: Run | null, span: Span, toMs: number): Run {
  const grown = run ?? { fromMs: span.fromMs, toMs, first: span, ms: new Map() };
  const phase = grown.ms.get(span.phase) ?? { ms: 0, of: span };
  phase.ms += toMs - span.fromMs;
  grown.ms.set(span.phase, phase);
  grown.toMs = Math.max(grown.toMs, toMs);
  return grown;
}

function asSpan({ fromMs, toMs, first, ms }: Run): Span {
  const most = [...ms.values()].reduce((a, b) => (b.ms > a.ms ? b : a), { ms: -1, of: first });
  return { ...most.of, fromMs, toMs };
}
