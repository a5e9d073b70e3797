// The scanner against JSON.parse: the same documents accepted, the same values found, however the bytes are cut.

import fc from "fast-check";
import { expect, test } from "vitest";
import { asParsed, cuts, document, parsed, scan, wordSalad } from "./scanning.ts";

/** A failure is shrunk for so long at most. */
const RUNS = { numRuns: 2000, interruptAfterTimeLimit: 15_000 };

function agrees(bytes: Uint8Array, at: readonly number[]): void {
  const wanted = parsed(bytes);
  const found = scan(bytes, at);
  if (wanted === null) expect(["invalid_json", "invalid_body"]).toContain(found);
  else if (wanted === "other") expect(["invalid_json", "invalid_body"]).toContain(found);
  else expect(typeof found === "string" ? found : asParsed(found)).toEqual(wanted);
}

test("It accepts what JSON.parse accepts and finds the same values, wherever the chunks are cut", () => {
  fc.assert(
    fc.property(document, cuts, (text, at) => {
      const bytes = Buffer.from(text);
      fc.pre(parsed(bytes) !== null);
      agrees(bytes, at);
    }),
    RUNS,
  );
});

test("One byte changed, left out or put in: it refuses exactly when JSON.parse does", () => {
  const change = fc.record({
    at: fc.nat(),
    remove: fc.nat({ max: 1 }),
    insert: fc.oneof(fc.constantFrom(...'{}[],:"\\ue.-+01 tfn\u0000\t'.split("")), fc.constant("")),
  });
  fc.assert(
    fc.property(document, fc.array(change, { minLength: 1, maxLength: 2 }), cuts, (text, changes, at) => {
      let bytes = Buffer.from(text);
      for (const { at: place, remove, insert } of changes) {
        const from = place % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(insert), bytes.subarray(from + remove)]);
      }
      agrees(bytes, at);
    }),
    RUNS,
  );
});

test("Its own words in any order: it refuses exactly when JSON.parse does", () => {
  fc.assert(
    fc.property(wordSalad, fc.boolean(), cuts, (text, wrap, at) => {
      agrees(Buffer.from(wrap ? `{"a":${text}}` : text), at);
    }),
    { ...RUNS, numRuns: 5000 },
  );
});

test("Arbitrary bytes never make it fail in another way than it says", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), cuts, (bytes, at) => {
      agrees(bytes, at);
      agrees(Buffer.concat([Buffer.from('{"model":"'), bytes, Buffer.from('"}')]), at);
    }),
    { ...RUNS, numRuns: 1000 },
  );
});

test("The span of the model lies exactly on its string", () => {
  fc.assert(
    fc.property(document, cuts, (text, at) => {
      const bytes = Buffer.from(text);
      const found = scan(bytes, at);
      if (typeof found === "string" || found.model?.type !== "string") return;
      const [start, end] = found.model.span;
      expect(JSON.parse(`"${bytes.subarray(start, end).toString("utf8")}"`)).toBe(found.model.text);
      expect(bytes.subarray(start - 1, start).toString() + bytes.subarray(end, end + 1).toString()).toBe('""');
    }),
    RUNS,
  );
});
