// Finding one of an object's own keys in bytes, against JSON.parse.

import fc from "fast-check";
import { expect, it } from "vitest";
import { TopLevelKey } from "../../src/backends/triton/top-level-key.ts";

function seenIn(text: string, pieceBytes = 7): string | null {
  const seen = new TopLevelKey("k");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) seen.push(bytes.subarray(at, at + pieceBytes));
  return seen.value;
}

const key = fc.constantFrom("k", "kk", 'k"', "\\k", "other", "k:", "{k", "é");
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(key, tie("any"), { maxKeys: 3 }),
  ),
})).any;

it("finds the key where JSON.parse finds it, and nowhere else", () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, value),
      fc.constantFrom(0, 1, 3),
      fc.integer({ min: 1, max: 40 }),
      (object, indent, piece) => {
        const found = seenIn(JSON.stringify(object, null, indent), piece);

        expect(found !== null).toBe(Object.hasOwn(object, "k"));
      },
    ),
  );
});

it("holds the value as it is written", () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, fc.oneof(fc.integer(), fc.constant(null), fc.constant({ type: "text" }))),
      (object) => {
        const found = seenIn(JSON.stringify({ ...object, k: 1, z: 2 }));

        expect(found === null ? null : JSON.parse(found)).toEqual(1);
      },
    ),
  );
});

it("reads a key that is written with escapes, and the last of two", () => {
  expect(seenIn('{"\\u006b":true}')).toBe("true");
  expect(seenIn('{"k":1,"k":[2,{"k":3}]}')).toBe('[2,{"k":3}]');
});

it("finds nothing in what is no object, and holds little of what is long", () => {
  expect(seenIn('["k",{"k":1}]')).toBeNull();
  expect(seenIn(`{"k":"${"x".repeat(100_000)}"}`)?.length).toBeLessThanOrEqual(128);
});
