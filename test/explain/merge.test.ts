import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Stretch } from "../../src/domain/life.ts";
import { partsOf } from "../../src/domain/partition.ts";
import { mergeSmall } from "../../src/explain/merge.ts";
import { OTHER_MODEL, START_MS } from "./given.ts";

const none = { rule: null, by: null, device: null, decision: null, detail: {} };
const KINDS: readonly Pick<Stretch, "cause" | "rule" | "by">[] = [
  { cause: "held", rule: "score", by: OTHER_MODEL },
  { cause: "loading", rule: null, by: null },
  { cause: "draining", rule: null, by: OTHER_MODEL },
  { cause: "own_queue", rule: null, by: null },
];

const lists = fc
  .array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5_000 })), { minLength: 1, maxLength: 400 })
  .map((pieces): Stretch[] => {
    let atMs = START_MS;
    return pieces.map(([kind, ms]) => {
      const fromMs = atMs;
      atMs += ms;
      return { ...none, ...(KINDS[kind] ?? { cause: "dispatch" }), fromMs, toMs: atMs };
    });
  });

const sums = (stretches: readonly Stretch[]): Record<string, number> =>
  Object.fromEntries(partsOf(stretches).map(({ cause, ms }) => [cause, ms]));

describe("a list of stretches that is too long", () => {
  it("is made short, still touches, and keeps the sum of each subject", () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 4, max: 60 }), (stretches, most) => {
        const { stretches: left, merged } = mergeSmall(stretches, most);

        expect(left.length).toBeLessThanOrEqual(most);
        expect(left.length + merged).toBe(stretches.length);
        expect(sums(left)).toEqual(sums(stretches));
        expect(left[0]?.fromMs).toBe(stretches[0]?.fromMs);
        expect(left.at(-1)?.toMs).toBe(stretches.at(-1)?.toMs);
        for (const [i, each] of left.entries()) {
          expect(each.toMs).toBeGreaterThan(each.fromMs);
          if (i > 0) expect(each.fromMs).toBe(left[i - 1]?.toMs);
        }
      }),
    );
  });

  it("keeps what is long as it was while the small is gathered", () => {
    const piece = (i: number, ms: number, fromMs: number): Stretch => ({
      ...{ ...none, ...(KINDS[i % 2] ?? { cause: "dispatch" }) },
      ...{ fromMs, toMs: fromMs + ms },
    });
    let atMs = START_MS;
    const stretches = Array.from({ length: 200 }, (_, i) => {
      const made = piece(i, i === 100 ? 60_000 : 5, atMs);
      atMs = made.toMs;
      return made;
    });

    const { stretches: left } = mergeSmall(stretches, 50);

    expect(left).toContainEqual(stretches[100]);
  });

  it("is left alone when it is short enough", () => {
    const stretches = [{ ...none, cause: "held", fromMs: 0, toMs: 1 } as Stretch];

    expect(mergeSmall(stretches)).toEqual({ stretches, merged: 0 });
  });
});
