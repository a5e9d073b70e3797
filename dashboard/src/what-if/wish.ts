// What is to be tried, in the address and as a request: a range, a policy, settings by their configuration names. Pure.

import type { ReplayChoicesWire, ReplayRequestWire } from "../../../src/client/wire-live.ts";

export type SettingValues = Readonly<Record<string, unknown>>;

export interface Wish {
  readonly fromMs: number;
  readonly toMs: number;
  /** "" is the one that ran. */
  readonly policy: string;
  /** Only what differs. */
  readonly set: SettingValues;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export const RANGES: readonly (readonly [hours: string, text: string])[] = [
  ["1", "1 h"],
  ["6", "6 h"],
  ["24", "24 h"],
  ["168", "7 d"],
];
export const DEFAULT_HOURS = "6";

/**
 * @param nowMs When the page was opened; whole minutes, so that the same question has the same answer for a while.
 * Nothing is asked for that lies before the first recorded job.
 */
export function readWish(query: URLSearchParams, span: ReplayChoicesWire["span"], nowMs: number): Wish {
  const endMs = Math.ceil(Math.max(nowMs, span?.to_ms ?? 0) / MINUTE_MS) * MINUTE_MS;
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const fixed = from > 0 && to > from;
  const hours = Number(query.get("hours") ?? DEFAULT_HOURS) || Number(DEFAULT_HOURS);
  const firstMs = Math.floor((span?.from_ms ?? 0) / MINUTE_MS) * MINUTE_MS;
  const toMs = fixed ? Math.min(to, endMs) : endMs;
  const fromMs = Math.min(toMs - MINUTE_MS, Math.max(fixed ? from : toMs - hours * HOUR_MS, firstMs));
  return { fromMs, toMs, policy: query.get("policy") ?? "", set: parseSet(query.get("set") ?? "") };
}

export function requestOf({ fromMs, toMs, policy, set }: Wish): ReplayRequestWire {
  return { from_ms: fromMs, to_ms: toMs, ...(policy === "" ? {} : { policy }), set };
}

/** `maxWaitSeconds=600,visitSeconds={"batch":3600}`: as on the command line, pairs apart by commas. */
export function parseSet(text: string): SettingValues {
  const pairs = text === "" ? [] : text.split(/,(?=[A-Za-z]+=)/);
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const at = pair.indexOf("=");
      return at < 1 ? [] : [[pair.slice(0, at), parseValue(pair.slice(at + 1))]];
    }),
  );
}

export function setText(set: SettingValues): string {
  return Object.entries(set).map(pairText).join(",");
}

const pairText = ([key, value]: readonly [string, unknown]): string =>
  `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The command that gives the same document. */
export function commandOf({ fromMs, toMs, policy, set }: Wish): string {
  const words = Object.entries(set).map((pair) => ` --set ${quoted(pairText(pair))}`);
  const other = policy === "" ? "" : ` --policy ${policy}`;
  return `sir replay --from ${iso(fromMs)} --to ${iso(toMs)}${other}${words.join("")}`;
}

/** What would stand in `sir.config.ts`; "": nothing differs. */
export function configLine({ policy, set }: Wish): string {
  const entries = [...(policy === "" ? [] : [["policy", policy] as const]), ...Object.entries(set)];
  if (entries.length === 0) return "";
  return `scheduler: { ${entries.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")} }`;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const quoted = (word: string): string => (/^[\w=.:-]+$/.test(word) ? word : `'${word}'`);

/** The same wish without what equals the base; the order of keys is the base's. */
export function trimmed(set: SettingValues, base: SettingValues): SettingValues {
  return Object.fromEntries(
    Object.entries(set).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(base[key] ?? null)),
  );
}
