// The job log for operators, page by page: what `sir replay --url` reads. No body, no answer and no caller is in it.

import type { Store } from "../store/store.ts";
import { requireObserver } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { onlyKnown } from "./query.ts";

const DEFAULT_LIMIT = 200;
const MOST = 1_000;
const PARTS = ["jobs", "loads", "moves", "shadows", "setups", "downtimes", "pauses", "span", "tunings"] as const;
type Part = (typeof PARTS)[number];

/** `GET /admin/history/{part}`: oldest first; `next` goes into `after` for the following page. */
export async function readHistory(c: Call, world: HttpWorld): Promise<Response> {
  requireObserver(c);
  onlyKnown(c, ["from_ms", "to_ms", "after", "limit"]);
  const part = PARTS.find((each) => each === c.req.param("part"));
  if (part === undefined) throw invalidQuery("part", `There is no such part. There are: ${PARTS.join(", ")}.`);
  const { data, next } = await read(c, world.store.history, part);
  return c.json({ object: "list", data: data.map(snakeKeys), next }, 200, { "cache-control": "no-store" });
}

async function read(
  c: Call,
  history: Store["history"],
  part: Part,
): Promise<{ readonly data: readonly unknown[]; readonly next: string | null }> {
  const range = { fromMs: readInstant(c, "from_ms", 0), toMs: readInstant(c, "to_ms", Number.MAX_SAFE_INTEGER) };
  const limit = readCount(c);
  switch (part) {
    case "setups":
    case "downtimes":
    case "pauses":
      return { data: await history[part](range), next: null };
    case "tunings":
      return { data: await history.tunings(limit), next: null };
    case "span": {
      const span = await history.span();
      return { data: span === null ? [] : [span], next: null };
    }
    default:
      return history[part]({ ...range, after: c.req.query("after") ?? null, limit });
  }
}

function readInstant(c: Call, name: string, absent: number): number {
  const text = c.req.query(name);
  if (text === undefined) return absent;
  if (!/^\d{1,16}(\.\d{1,9})?$/.test(text))
    throw invalidQuery(name, `"${name}" must be an instant in Unix milliseconds.`);
  return Number(text);
}

function readCount(c: Call): number {
  const text = c.req.query("limit");
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST) throw invalidQuery("limit", `"limit" must be a whole number from 1 to ${MOST}.`);
  return limit;
}

/** Of the row and its runs; what else lies inside (a setup, models' names) keeps its spelling. */
function snakeKeys(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return row;
  const snake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      snake(key),
      key === "runs" ? (value as unknown[]).map(snakeKeys) : value,
    ]),
  );
}
