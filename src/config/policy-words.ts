// Policies and their settings as they are typed on a command line (`--policy a,b`, `--set key=value`) or named in a
// request: unknown ones are refused with what was probably meant.

import { isPolicyName, keysOf, POLICY_NAMES, type PolicyName } from "../scheduler/policies/registry.ts";
import { closest } from "./closest.ts";
import { ConfigError } from "./problem.ts";

/** Of the scheduler's section, read whatever the policy is. */
const OF_ALL = ["drainSeconds"];

/** `a,b`. @throws {ConfigError} */
export function parsePolicies(text: string): PolicyName[] {
  return text.split(",").map((word) => knownPolicy(word.trim(), "--policy"));
}

/** @param from Where it was said. @throws {ConfigError} */
export function knownPolicy(name: string, from: string): PolicyName {
  if (isPolicyName(name)) return name;
  const near = closest(name, POLICY_NAMES);
  const mend = near === null ? `Known: ${POLICY_NAMES.join(", ")}.` : didYouMean(near);
  throw refusal(from, name, "is no policy.", mend);
}

/**
 * @param words Each `key=value`; a value that is JSON is taken as JSON (0.5, true, null, {"batch":3600}).
 * @param policies Those that are to run with them: a key that none of them reads is refused.
 * @throws {ConfigError}
 */
export function parseSettings(words: readonly string[], policies: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 1) throw refusal("--set", word, "must be key=value,", "e.g. maxWaitSeconds=600.");
    const key = word.slice(0, at);
    requireKnownKey(key, policies, "--set");
    const value = readValue(word.slice(at + 1));
    values[key] = key.endsWith("Seconds") ? secondsOf(key, value) : value;
  }
  return values;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `10m` is a way to write 600; another word is none, and is refused before anything is run with it. */
function secondsOf(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(value) ?? [];
  if (amount !== undefined) return Number(amount) * (UNIT_SECONDS[unit] ?? 1);
  throw refusal("--set", `${key}=${value}`, "must be seconds,", `e.g. ${key}=600, or ${key}=10m.`);
}

/** Of the `scheduler` section, what these policies read. */
export function settingKeysOf(policies: readonly string[]): readonly string[] {
  return [...new Set([...policies.filter(isPolicyName).flatMap(keysOf), ...OF_ALL])];
}

/** @param from Where it was said. @throws {ConfigError} */
export function requireKnownKey(key: string, policies: readonly string[], from: string): void {
  const known = settingKeysOf(policies);
  if (known.includes(key)) return;
  const near = closest(key, known);
  const mend = near === null ? `It reads ${known.join(", ")}.` : didYouMean(near);
  throw refusal(from, key, `is not read by ${policies.join(" or ")}.`, mend);
}

const didYouMean = (near: string): string => `Did you mean "${near}"?`;

function refusal(flag: string, path: string, text: string, mend: string): ConfigError {
  return new ConfigError(flag, [{ path, text, mend }]);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
