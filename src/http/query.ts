// Query strings, read strictly: a filter that was misspelt must not quietly match everything.

import { SirError } from "../domain/errors.ts";
import type { JobId } from "../domain/ids.ts";
import { parseJobId } from "../domain/ids.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { routerMs } from "./instants.ts";
import { LONGEST_WAIT_SECONDS, parsePrefer } from "./prefer.ts";

const DEFAULT_LIMIT = 20;
const LIMIT = 100;

/** @throws {SirError} invalid_query when a parameter is not among `known`; `metadata[...]` stands for any key. */
export function onlyKnown(c: Call, known: readonly string[]): void {
  for (const name of Object.keys(c.req.query())) {
    if (known.includes(name) || (known.includes("metadata[...]") && metadataKey(name) !== null)) continue;
    throw invalidQuery(name, `Unknown query parameter. This route reads ${known.join(", ")}.`);
  }
}

export function readLimit(c: Call, most = LIMIT, absent = DEFAULT_LIMIT): number {
  const text = c.req.query("limit");
  if (text === undefined) return absent;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most) throw invalidQuery("limit", `"limit" must be a whole number from 1 to ${most}.`);
  return limit;
}

export function readChoice<T extends string>(c: Call, name: string, choices: readonly T[], absent: T): T {
  const text = c.req.query(name);
  if (text === undefined) return absent;
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw invalidQuery(name, `"${name}" must be ${choices.join(" or ")}.`);
  return found;
}

export function readJobId(c: Call, name: string): JobId | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  const id = parseJobId(text);
  if (id === null) throw invalidQuery(name, `"${name}" must be a job's id: job_ and 32 hexadecimal digits.`);
  return id;
}

export function readMetadata(c: Call): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const [name, value] of Object.entries(c.req.query())) {
    const key = metadataKey(name);
    if (key !== null) wanted[key] = value;
  }
  return wanted;
}

function metadataKey(name: string): string | null {
  return name.startsWith("metadata[") && name.endsWith("]") && name.length > 10 ? name.slice(9, -1) : null;
}

export interface AskedWait {
  /** Null: the caller did not say. */
  readonly waitMs: number | null;
  /** What `Preference-Applied` says, when the wait came by `Prefer`. */
  readonly applied: Record<string, string>;
}

/**
 * How long a caller is ready to wait: `?wait=` in seconds, else `Prefer: wait=N`.
 * @throws {SirError} invalid_query
 */
export function readWait(c: Call): AskedWait {
  const text = c.req.query("wait");
  if (text !== undefined) {
    const waitSeconds = /^\d{1,6}(\.\d{1,9})?$/.test(text) ? Number(text) : -1;
    if (waitSeconds < 0 || waitSeconds > LONGEST_WAIT_SECONDS) {
      throw new SirError("invalid_query", `"wait" must be a number of seconds from 0 to ${LONGEST_WAIT_SECONDS}.`, {
        param: "wait",
      });
    }
    return { waitMs: waitSeconds * 1000, applied: {} };
  }
  const { waitSeconds, respondAsync } = parsePrefer(c.req.raw.headers.get("prefer"));
  if (waitSeconds === null) return { waitMs: respondAsync ? 0 : null, applied: {} };
  return { waitMs: waitSeconds * 1000, applied: { "preference-applied": `wait=${waitSeconds}` } };
}

/**
 * An instant in Unix milliseconds, as router time; null: it is not given.
 * @throws {SirError} invalid_query
 */
export function readInstant(c: Call, world: HttpWorld, name: string): number | null {
  const text = c.req.query(name);
  if (text === undefined) return null;
  if (!/^\d{1,15}(\.\d{1,6})?$/.test(text))
    throw invalidQuery(name, `"${name}" must be an instant in Unix milliseconds.`);
  return routerMs(world, Number(text));
}
