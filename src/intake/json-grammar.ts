// The JSON grammar (RFC 8259) as tables: what may come where, and how to say that something else came.

import { SirError } from "../domain/errors.ts";

export const Byte = {
  tab: 0x09,
  lf: 0x0a,
  cr: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  lowerF: 0x66,
  lowerN: 0x6e,
  lowerT: 0x74,
  lowerU: 0x75,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** Where the scanner stands. */
export const Mode = {
  start: 0,
  firstKey: 1,
  key: 2,
  colon: 3,
  value: 4,
  firstItem: 5,
  after: 6,
  string: 7,
  escape: 8,
  hex: 9,
  number: 10,
  literal: 11,
  end: 12,
} as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

const EXPECTED: Readonly<Record<Mode, string>> = {
  [Mode.start]: "'{'",
  [Mode.firstKey]: "a key in quotes or '}'",
  [Mode.key]: "a key in quotes",
  [Mode.colon]: "':'",
  [Mode.value]: "a value",
  [Mode.firstItem]: "a value or ']'",
  [Mode.after]: "',' or the end of the object or array",
  [Mode.string]: "the rest of a string, with control characters escaped",
  [Mode.escape]: 'one of " \\ / b f n r t u after a backslash',
  [Mode.hex]: "a hexadecimal digit",
  [Mode.number]: "a digit",
  [Mode.literal]: "true, false or null",
  [Mode.end]: "nothing after the object",
};

/** Where a number stands. It may end in `zero`, `whole`, `fraction` and `power`. */
export const Part = { minus: 0, zero: 1, whole: 2, point: 3, fraction: 4, exponent: 5, sign: 6, power: 7 } as const;
export type Part = (typeof Part)[keyof typeof Part];

export const PART_MAY_END: readonly boolean[] = [false, true, true, false, true, false, false, true];
/** In `NEXT_PART`: the number cannot go on with this byte (it may have ended before it). */
export const NO_PART = 255;
/** By part x 256 + byte: the part after that byte. */
export const NEXT_PART = new Uint8Array(8 * 256).fill(NO_PART);

function allow(from: Part, bytes: string, to: Part): void {
  for (const symbol of bytes) NEXT_PART[from * 256 + symbol.charCodeAt(0)] = to;
}
allow(Part.minus, "0", Part.zero);
allow(Part.minus, "123456789", Part.whole);
allow(Part.whole, "0123456789", Part.whole);
for (const whole of [Part.zero, Part.whole]) allow(whole, ".", Part.point);
for (const digits of [Part.point, Part.fraction]) allow(digits, "0123456789", Part.fraction);
for (const mantissa of [Part.zero, Part.whole, Part.fraction]) allow(mantissa, "eE", Part.exponent);
allow(Part.exponent, "+-", Part.sign);
for (const digits of [Part.exponent, Part.sign, Part.power]) allow(digits, "0123456789", Part.power);

/** 1: the byte ends a run inside a string (quote, backslash, control character). */
export const STOPS_RUN = new Uint8Array(256);
STOPS_RUN.fill(1, 0, Byte.space);
STOPS_RUN[Byte.quote] = 1;
STOPS_RUN[Byte.backslash] = 1;

/** 1: the byte may follow a backslash by itself (`u` may not). */
export const ESCAPES = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = 1;

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** A byte in words that give nothing of a caller's text away. */
function describe(byte: number): string {
  if (byte < Byte.space || byte === 0x7f) return `a control character (0x${byte.toString(16).padStart(2, "0")})`;
  if (byte >= 0x80) return "a byte outside ASCII";
  if (isDigit(byte)) return "a digit";
  const symbol = String.fromCharCode(byte);
  return /[A-Za-z]/.test(symbol) ? "a letter" : `'${symbol}'`;
}

/** @param byte What came; null: the end of the body. */
export function syntaxError(mode: Mode, offsetBytes: number, byte: number | null): SirError {
  const came = byte === null ? "the end of the body" : describe(byte);
  return new SirError(
    "invalid_json",
    `The body is not valid JSON: expected ${EXPECTED[mode]} at byte ${offsetBytes}, got ${came}.`,
  );
}

/** Where an object must begin; null: what came begins no other JSON value either. */
export function notAnObject(byte: number): SirError | null {
  let got: string;
  if (byte === Byte.openArray) got = "an array";
  else if (byte === Byte.quote) got = "a string";
  else if (byte === Byte.minus || isDigit(byte)) got = "a number";
  else return null;
  return new SirError("invalid_body", `The body must be a JSON object, got ${got}.`);
}
