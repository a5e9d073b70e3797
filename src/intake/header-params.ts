// Parameters of a header value (`form-data; name="model"; filename="a;b.wav"`), quoted or not.

const TOKEN = /[^\s;="]+/y;
const BLANK = /[ \t]*/y;

interface ParameterHeader {
  /** The part before the first semicolon, lower case. */
  readonly value: string;
  /** By lower-case name; the first of several counts. */
  readonly params: ReadonlyMap<string, string>;
}

/** Null when it is malformed. Linear in the text's length. */
export function parseParameters(text: string): ParameterHeader | null {
  const semicolon = text.indexOf(";");
  const value = (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  if (value === "") return null;
  const params = new Map<string, string>();
  let at = semicolon < 0 ? text.length : semicolon;
  while (at < text.length) {
    if (text[at] !== ";") return null;
    at = skip(text, at + 1);
    if (at === text.length || text[at] === ";") continue;
    const name = match(TOKEN, text, at);
    if (name === null) return null;
    at = skip(text, at + name.length);
    if (text[at] !== "=") return null;
    at = skip(text, at + 1);
    const quoted = text[at] === '"' ? readQuoted(text, at) : null;
    if (text[at] === '"' && quoted === null) return null;
    const word = quoted?.text ?? match(TOKEN, text, at) ?? "";
    at = skip(text, quoted?.end ?? at + word.length);
    if (!params.has(name.toLowerCase())) params.set(name.toLowerCase(), word);
  }
  return { value, params };
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function skip(text: string, at: number): number {
  return at + (match(BLANK, text, at)?.length ?? 0);
}

/** Backslash escapes only quote and backslash: browsers send Windows paths as they are. */
function readQuoted(text: string, start: number): { readonly text: string; readonly end: number } | null {
  let out = "";
  for (let at = start + 1; at < text.length; at++) {
    const letter = text[at] as string;
    if (letter === '"') return { text: out, end: at + 1 };
    const next = text[at + 1];
    if (letter === "\\" && (next === '"' || next === "\\")) {
      out += next;
      at++;
    } else {
      out += letter;
    }
  }
  return null;
}
