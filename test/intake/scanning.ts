// Feeds bodies to the scanners in pieces, and makes bodies to feed.

import fc from "fast-check";
import { SirError } from "../../src/domain/errors.ts";
import { type Members, WANTED } from "../../src/intake/members.ts";
import { JsonScanner } from "../../src/intake/scan.ts";

export function cutAt(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    pieces.push(bytes.subarray(from, place));
    from = place;
  }
  return pieces;
}

/** The members found, or the code of the error. */
export function scan(text: string | Uint8Array, cuts: readonly number[] = []): Members | string {
  const scanner = new JsonScanner();
  try {
    for (const piece of cutAt(typeof text === "string" ? Buffer.from(text) : text, cuts)) scanner.feed(piece);
    return scanner.finish();
  } catch (error) {
    if (error instanceof SirError) return error.code;
    throw error;
  }
}

/** What JSON.parse sees of the five members; null where it refuses the text, "other" where the top is no object. */
export function parsed(bytes: Uint8Array): Readonly<Record<string, unknown>> | "other" | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "other";
  const own = Object.entries(value).filter(([key]) => (WANTED as readonly string[]).includes(key));
  return Object.fromEntries(own.map(([key, member]) => [key, shown(member)]));
}

/** A scanner's members in the same shape. */
export function asParsed(members: Members): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(members).map(([key, member]) => {
      if (member.type === "string") return [key, member.text];
      return [key, member.type === "boolean" ? member.value : `<${member.type}>`];
    }),
  );
}

function shown(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (value === null) return "<null>";
  return Array.isArray(value) ? "<array>" : `<${typeof value}>`;
}

const blank = fc.constantFrom("", "", "", " ", "\n\t", "\r\n  ");
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WANTED) },
  fc.constantFrom("models", "Model", "mode", "__proto__", "service_tier_", "", "messages"),
  fc.string({ unit: "binary", maxLength: 12 }),
);

/** A key as somebody may write it: any of its characters as an escape. */
const key = fc.tuple(name, fc.infiniteStream(fc.boolean())).map(([text, escapes]) => {
  const letters = [
    ...JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u....|\\.|[^\\]/gs),
  ].map(([letter]) => letter);
  const written = letters.map((letter) => {
    const escaped = escapes.next().value === true && letter.length === 1 && letter.charCodeAt(0) < 0x80;
    return escaped ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}` : letter;
  });
  return `"${written.join("")}"`;
});

const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.string({ unit: "binary", maxLength: 20 }).map((text) => JSON.stringify(text)),
    fc.constantFrom("true", "false", "null", "0", "-0", "1E+5", "1e-7", "0.5", '"\\ud800"', '"caf\\u00e9"', '"\\/"'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => String(number)),
    fc.jsonValue().map((json) => JSON.stringify(json, null, 1)),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(" ,")}]`),
    tie("object"),
  ),
  object: objectOf(tie("value")),
}));

function objectOf(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(blank, key, blank, member, blank), { maxLength: 8, size: "max" })
    .map((all) => `{${all.map(([a, k, b, v, c]) => `${a}${k}${b}:${b}${v}${c}`).join(",")}}`);
}

/** Well-formed objects with our five names at the top, nested, repeated and escaped. */
export const document = fc.tuple(blank, objectOf(value), blank).map((parts) => parts.join(""));

/** Nearly JSON: its own words in any order. */
export const wordSalad = fc
  .array(
    fc.constantFrom(
      ...'{}[],:"\\ue.-+01 '.split(""),
      ...['"model"', '"a"', '"m":', "true", "false", "null", "tru", "1.5", "\\u12", "\u0001", "é", "\ufeff", "\n"],
    ),
    { maxLength: 30, size: "max" },
  )
  .map((words) => words.join(""));

export const cuts = fc.array(fc.nat({ max: 5000 }), { maxLength: 12, size: "max" });
