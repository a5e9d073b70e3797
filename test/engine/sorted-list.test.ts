import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedList } from "../../src/engine/sorted-list.ts";

const byNumber = (a: number, b: number): number => a - b;

describe("a sorted list", () => {
  it("agrees with a plain sorted array, whatever is put in and taken out", () => {
    const step = fc.record({ add: fc.boolean(), value: fc.integer({ min: 0, max: 400 }) });

    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: "max" }), (steps) => {
        const list = new SortedList(byNumber);
        const plain: number[] = [];
        for (const { add, value } of steps) {
          const at = plain.indexOf(value);
          if (add && at === -1) {
            list.insert(value);
            plain.push(value);
            plain.sort(byNumber);
          } else if (!add) {
            expect(list.remove(value)).toBe(at !== -1);
            if (at !== -1) plain.splice(at, 1);
          }
        }
        expect([...list]).toEqual(plain);
        expect(list.size).toBe(plain.length);
        expect(list.first()).toBe(plain[0]);
        for (const [index, value] of plain.entries()) expect(list.position(value)).toBe(index);
        expect(list.position(-1)).toBeNull();
      }),
      { numRuns: 60 },
    );
  });

  it("keeps order and positions across many chunks", () => {
    const list = new SortedList(byNumber);
    const values = Array.from({ length: 5_000 }, (_, i) => (i * 7_919) % 5_000);

    for (const value of values) list.insert(value);

    expect([...list]).toEqual(Array.from({ length: 5_000 }, (_, i) => i));
    expect(list.position(4_321)).toBe(4_321);
  });
});
