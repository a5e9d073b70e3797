// Stretches put together until a picture can hold them.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Span, SpanPhase } from "../../src/domain/change.ts";
import type { DeviceId, ModelName } from "../../src/domain/ids.ts";
import { mergeSpans, SPANS_MAX } from "../../src/http/span-merge.ts";

const PHASES: readonly SpanPhase[] = ["loading", "serving", "idle", "draining", "unloading", "failed"];
const span = (fromMs: number, toMs: number | null, phase: SpanPhase = "serving", model = "alpha"): Span => ({
  ...{ device: "gpu0" as DeviceId, model: model as ModelName, phase, fromMs, toMs, decision: null },
});

/** A lane: lengths and gaps, one after the other. */
const lane = fc.array(fc.tuple(fc.nat(5_000), fc.nat(3_000), fc.constantFrom(...PHASES)), { maxLength: 3_000 });

function laidOut(lengths: readonly (readonly [number, number, SpanPhase])[], model: string): Span[] {
  let atMs = 0;
  return lengths.map(([length, gap, phase]) => {
    const made = span(atMs, atMs + length + 1, phase, model);
    atMs += length + 1 + gap;
    return made;
  });
}

describe("merging", () => {
  it("leaves what can be seen as it is, and puts the rest together under what took most of it", () => {
    const merged = mergeSpans(
      [
        span(0, 5_000, "loading"),
        span(5_000, 5_100),
        span(5_100, 5_500, "idle"),
        span(5_500, 5_600),
        span(5_600, null),
      ],
      1_000,
      9_000,
    );

    expect(merged).toEqual([span(0, 5_000, "loading"), span(5_000, 5_600, "idle"), span(5_600, null)]);
  });

  it("never joins two models, or what a pixel of nothing lies between", () => {
    const apart = [span(0, 10), span(5_000, 5_010), span(0, 10, "serving", "beta")];

    expect(mergeSpans(apart, 1_000, 9_000)).toEqual(apart);
  });

  it("comes to an end with more lanes than it may show", () => {
    const many = Array.from({ length: 3_000 }, (_, i) => span(i, null, "idle", `model ${i}`));

    expect(mergeSpans(many, 1_000, 1e12)).toHaveLength(SPANS_MAX);
  });

  it("keeps lanes in order without overlap, covers each instant it was given, and is never too long", () => {
    fc.assert(
      fc.property(lane, lane, fc.integer({ min: 1, max: 4_000 }), (first, second, pixelMs) => {
        const spans = [...laidOut(first, "alpha"), ...laidOut(second, "beta")];
        const merged = mergeSpans(spans, pixelMs, 1e9);

        expect(merged.length).toBeLessThanOrEqual(SPANS_MAX);
        for (const model of ["alpha", "beta"]) {
          const [before, after] = [spans, merged].map((all) => all.filter((each) => each.model === model));
          for (const [i, each] of (after ?? []).entries()) {
            expect(each.fromMs).toBeGreaterThanOrEqual(after?.[i - 1]?.toMs ?? 0);
          }
          let at = 0;
          for (const each of before ?? []) {
            while ((after?.[at]?.toMs ?? 0) < (each.toMs ?? 0)) at++;
            expect(after?.[at]?.fromMs).toBeLessThanOrEqual(each.fromMs);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
