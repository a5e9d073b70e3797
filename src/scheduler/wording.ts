// Numbers in sentences. The parts of a quantity are joined by no-break spaces, so that a line never ends inside one.

const NBSP = "\u00a0";

const pad = (value: number): string => String(value).padStart(2, "0");

/** `0.4 s`, `2.6 s`, `41 s`, `31 m 01 s`, `2 h 05 m`, `4 d 02 h`; never negative, and nothing that is no number. */
export function duration(ms: number): string {
  if (Number.isNaN(ms)) return "an unknown time";
  if (ms === Number.POSITIVE_INFINITY) return "for ever";
  const tenths = Math.max(0, Math.round(ms / 100));
  if (tenths < 100) return `${tenths / 10}${NBSP}s`;
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}${NBSP}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return [`${minutes}${NBSP}m`, ...(seconds % 60 ? [`${pad(seconds % 60)}${NBSP}s`] : [])].join(NBSP);
  const hours = Math.floor(minutes / 60);
  if (hours < 72) return [`${hours}${NBSP}h`, ...(minutes % 60 ? [`${pad(minutes % 60)}${NBSP}m`] : [])].join(NBSP);
  return [`${Math.floor(hours / 24)}${NBSP}d`, ...(hours % 24 ? [`${pad(hours % 24)}${NBSP}h`] : [])].join(NBSP);
}

/** `84 %`; `<1 %` below a half, and never all of it unless it is. */
export function percent(share: number): string {
  const hundredths = Math.min(100, Math.max(0, share * 100));
  if (hundredths < 0.5) return `<1${NBSP}%`;
  return `${hundredths < 100 ? Math.min(99, Math.round(hundredths)) : 100}${NBSP}%`;
}

/** `1 slot`, `3 slots`; `many` where an s does not do. */
export function quantity(count: number, one: string, many = `${one}s`): string {
  return `${thousands(count)}${NBSP}${count === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** One decimal below a hundred, none above, thousands apart, a true minus sign. */
export function score(value: number): string {
  const rounded = Math.abs(value) < 99.95 ? Math.round(value * 10) / 10 : Math.round(value);
  return `${rounded < 0 ? "\u2212" : ""}${thousands(Math.abs(rounded))}`;
}

/** Two scores with as many decimals, up to six, as tell them apart. */
export function scores(a: number, b: number): readonly [string, string] {
  for (let digits = 1; digits <= 6 && a !== b && score(a) === score(b); digits++) {
    const [x, y] = [a, b].map((value) => String(Number(value.toFixed(digits))).replace(/^-/, "\u2212"));
    if (x !== undefined && y !== undefined && x !== y) return [x, y];
  }
  return [score(a), score(b)];
}

/** `1,234,567`. */
export function thousands(value: number): string {
  const [whole = "0", fraction] = String(value).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `1 job`, `12 jobs`. */
export function jobs(count: number): string {
  return quantity(count, "job");
}

/** `1 job waits`, `12 jobs wait`. */
export function jobsWait(count: number): string {
  return `${jobs(count)} ${count === 1 ? "waits" : "wait"}`;
}

/** `12 jobs were cancelled; 1 job was over already.`: what became of jobs that somebody wanted cancelled. */
export function cancelSentence(
  outcomes: readonly ("cancelled" | "already_over" | "not_found" | "not_allowed")[],
): string {
  const count = (word: (typeof outcomes)[number]): number => outcomes.filter((each) => each === word).length;
  const be = (number: number): string => `${jobs(number)} ${number === 1 ? "was" : "were"}`;
  const rest = [
    [count("already_over"), "over already"],
    [count("not_found"), "not found any more"],
    [count("not_allowed"), "not this key's to cancel"],
  ] as const;
  const parts = rest.filter(([number]) => number > 0).map(([number, what]) => `; ${be(number)} ${what}`);
  const done = count("cancelled");
  return `${done === 0 ? "No job was" : be(done)} cancelled${parts.join("")}.`;
}
