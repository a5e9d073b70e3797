// The keys of `sir top`: what is typed, as what is meant.

export type TopKey =
  | "up"
  | "down"
  | "open"
  | "decisions"
  | "cancel"
  | "load"
  | "unload"
  | "pin"
  | "longer"
  | "shorter"
  | "freeze"
  | "help"
  | "back"
  | "quit"
  | "yes"
  | "other";

const KEYS: Readonly<Record<string, TopKey>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  k: "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  j: "down",
  "\r": "open",
  "\n": "open",
  d: "decisions",
  x: "cancel",
  l: "load",
  u: "unload",
  p: "pin",
  "+": "longer",
  "=": "longer",
  "-": "shorter",
  f: "freeze",
  "?": "help",
  h: "help",
  "\u001b": "back",
  q: "quit",
  "\u0003": "quit",
  "\u0004": "quit",
  y: "yes",
  Y: "yes",
};

/** Several keys may come in one piece when they are typed quickly. */
export function keysIn(data: string): TopKey[] {
  const keys: TopKey[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what keys begin with
  for (const [key] of data.matchAll(/\u001b[[O][0-9;]*[A-Za-z~]|[\s\S]/g)) keys.push(KEYS[key] ?? "other");
  return keys;
}

export const KEY_HELP: readonly string[] = [
  "up, down, k, j   select a model or a job",
  "Enter            why: the job's time, or what the device does",
  "d                the newest decisions",
  "x                cancel the job (asks)",
  "l  u  p          load, unload (asks), pin or unpin the model",
  "+  -             a longer, a shorter strip of time",
  "f                freeze, and go on",
  "Esc, q           back, quit",
];
