// The scanner's tables, each entry of them: every byte in every place where bytes differ, every short number.

import { expect, test } from "vitest";
import { parsed, scan } from "./scanning.ts";

/** Where the scanner and JSON.parse disagree, over all cuts into two chunks. */
function disagreements(bytes: Uint8Array): readonly string[] {
  const isAccepted = typeof parsed(bytes) === "object" && parsed(bytes) !== null;
  const wrong: string[] = [];
  for (let at = 0; at <= bytes.length; at++) {
    if ((typeof scan(bytes, [at]) !== "string") !== isAccepted) wrong.push(`${JSON.stringify(bytes.toString())}@${at}`);
  }
  return wrong;
}

test.each([
  ['{"a":"', '"}', "inside a string"],
  ['{"a":"\\', '"}', "after a backslash"],
  ['{"a":"\\', 'x"}', "after a backslash, before a letter"],
  ['{"a":"\\u00', '0"}', "in a hexadecimal escape"],
  ['{"a":', "}", "as a value"],
  ['{"a":tru', "}", "in a literal"],
  ['{"a":1', "}", "after a digit"],
  ['{"a":[1,2]', "}", "after an array"],
  ['{"a":[', "]}", "in an array"],
  ['{"a":1}', "", "after the object"],
  ["", '{"a":1}', "before the object"],
  ["{", '"a":1}', "before a key"],
  ['{"a"', ":1}", "before a colon"],
  ['{"a":1,', "}", "after a comma"],
])("Every byte between %j and %j (%s) is taken as JSON.parse takes it", (before, after) => {
  const wrong: string[] = [];
  for (let byte = 0; byte < 256; byte++) {
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from([byte]), Buffer.from(after)]);
    wrong.push(...disagreements(bytes));
  }
  expect(wrong).toEqual([]);
});

test("Every number of up to five symbols is taken as JSON.parse takes it", () => {
  const wrong: string[] = [];
  let numbers = [""];
  for (let length = 1; length <= 5; length++) {
    numbers = numbers.flatMap((start) => [..."-+.eE01"].map((symbol) => start + symbol));
    for (const number of numbers) {
      const bytes = Buffer.from(`{"a":${number}}`);
      if ((typeof scan(bytes) !== "string") !== (parsed(bytes) !== null)) wrong.push(number);
    }
  }
  expect(wrong).toEqual([]);
});

test("512 levels of nesting are read, 513 are not", () => {
  const nested = (levels: number): string => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  expect(typeof scan(nested(512))).toBe("object");
  expect(scan(nested(513))).toBe("invalid_json");
});

test("Escapes in keys and in the model's name count, and members of the same name further in do not", () => {
  const text = String.raw`{"\u006dod\u0065l":"caf\u00e9\/\ud83d\ude00","x":{"model":"no","stream":true},"stream":null}`;
  expect(scan(text)).toMatchObject({ model: { type: "string", text: "café/😀" }, stream: { type: "null" } });
});

test("A value of another type that comes later replaces the earlier one, and the other way round", () => {
  expect(scan('{"model":"a","model":{"model":"b"}}')).toEqual({ model: { type: "object", span: [21, 34] } });
  expect(scan(`{"model":"${"x".repeat(5000)}","model":"a"}`)).toMatchObject({ model: { text: "a" } });
});
