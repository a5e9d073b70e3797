// The Prefer header (RFC 7240). A preference never causes an error: what is unknown, malformed or repeated is ignored.
// One pass over the text, no regular expressions: a header of junk costs its length.

export interface Preference {
  readonly respondAsync: boolean;
  /** Whole seconds, 0..60; null when absent or not a number. A bare `wait` means as long as is allowed. */
  readonly waitSeconds: number | null;
}

export const LONGEST_WAIT_SECONDS = 60;

/** @param header All lines joined with `, `, as `Headers.get` does. */
export function parsePrefer(header: string | null): Preference {
  let respondAsync = false;
  let wait: string | undefined;
  for (const [name, value] of preferences(header ?? "")) {
    if (name === "respond-async") respondAsync = true;
    if (name === "wait") wait ??= value;
  }
  return { respondAsync, waitSeconds: wait === undefined ? null : parseWait(wait) };
}

function parseWait(value: string): number | null {
  if (value === "") return LONGEST_WAIT_SECONDS;
  for (let i = 0; i < value.length; i++) if (!isDigit(value.charCodeAt(i))) return null;
  return Math.min(LONGEST_WAIT_SECONDS, Number(value));
}

/** Name (lower case) and value of each well-formed preference, in order; parameters are skipped. */
function* preferences(text: string): Generator<[name: string, value: string]> {
  let at = 0;
  while (at < text.length) {
    const element = readElement(text, at);
    if (element.name !== "") yield [element.name, element.value];
    at = element.end + 1;
  }
}

interface Element {
  /** Empty: malformed, or nothing between two commas. */
  readonly name: string;
  readonly value: string;
  /** Of the comma that ends it, or of the end. */
  readonly end: number;
}

function readElement(text: string, from: number): Element {
  const start = skipSpace(text, from);
  const nameEnd = skipToken(text, start);
  let at = skipSpace(text, nameEnd);
  let value = "";
  if (text[at] === "=") {
    at = skipSpace(text, at + 1);
    const word = readWord(text, at);
    value = word.value;
    at = skipSpace(text, word.end);
  }
  const wellFormed = nameEnd > start && (at === text.length || text[at] === "," || text[at] === ";");
  return {
    name: wellFormed ? text.slice(start, nameEnd).toLowerCase() : "",
    value,
    end: skipToComma(text, at),
  };
}

/** A token or a quoted string; empty when there is neither. */
function readWord(text: string, from: number): { value: string; end: number } {
  if (text[from] !== '"') {
    const end = skipToken(text, from);
    return { value: text.slice(from, end), end };
  }
  let value = "";
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"') return { value, end: at + 1 };
    if (text[at] === "\\") at++;
    value += text[at] ?? "";
  }
  return { value, end: text.length };
}

function skipToComma(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== ",") at = text[at] === '"' ? readWord(text, at).end : at + 1;
  return at;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

const TOKEN_MARKS = "!#$%&'*+-.^_`|~";

function skipToken(text: string, from: number): number {
  let at = from;
  while (at < text.length && isTokenChar(text.charCodeAt(at))) at++;
  return at;
}

function isTokenChar(code: number): boolean {
  return (
    isDigit(code) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    TOKEN_MARKS.includes(String.fromCharCode(code))
  );
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
