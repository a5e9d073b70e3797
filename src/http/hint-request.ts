// What a hint's JSON says: which model, when, how often, how much. Each mistake names its field.

import { z } from "@hono/zod-openapi";
import { parsePriority } from "../domain/band.ts";
import { SirError } from "../domain/errors.ts";
import type { Hint } from "../domain/hint.ts";

const DAY_MS = 86_400_000;
const FARTHEST_MS = 366 * DAY_MS;
/** Unix seconds beyond this are milliseconds by mistake. */
const LARGEST_UNIX = 1e11;
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const DURATION = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,3})?)s?)?$/;
const WORDS = ["interactive", "normal", "batch"];

const instant = z.union([z.number(), z.string().max(64)]);

export const HintRequestSchema = z
  .strictObject({
    model: z.string().min(1).max(512).describe("A model's name or alias"),
    at: instant
      .optional()
      .describe("When it will be needed: Unix seconds, ISO 8601, or HH:MM by the router's own clock. This, or `in`"),
    in: instant.optional().describe("From now: 90s, 5m, 1h30m, or seconds"),
    until: instant
      .optional()
      .describe("Until when the need may still come, as `at`; without it, a load and two minutes after that"),
    repeat: z.literal("daily").nullable().optional(),
    jobs: z.int().min(1).max(1_000_000).nullable().optional().describe("How many are expected"),
    priority: z
      .union([z.int().min(-1_000_000).max(1_000_000), z.enum(["interactive", "normal", "batch"])])
      .optional()
      .describe("Of these jobs, as SIR-Priority"),
  })
  .openapi("HintRequest");

export interface HintRequest extends Pick<Hint, "atMs" | "untilMs" | "repeat" | "jobs" | "priority"> {
  /** As it was written: a name or an alias. */
  readonly model: string;
}

/** @throws {SirError} invalid_body, with the field as `param` */
export function readHint(body: unknown, wallMs: number): HintRequest {
  const parsed = HintRequestSchema.safeParse(body);
  if (!parsed.success) throw shapeError(parsed.error.issues[0], body);
  const { model, at, in: wait, until, repeat = null, jobs = null, priority = 0 } = parsed.data;
  if ((at === undefined) === (wait === undefined)) {
    throw wrong("at", 'Give either "at" or "in", and not both.');
  }
  const atMs = at === undefined ? wallMs + durationMs(wait ?? "") : instantMs("at", at, wallMs);
  if (atMs < wallMs) throw wrong("at", '"at" has passed already; give an instant that is still to come.');
  if (atMs > wallMs + FARTHEST_MS) throw wrong(at === undefined ? "in" : "at", "A hint may be a year ahead at most.");
  const untilMs = until === undefined ? null : instantMs("until", until, atMs);
  if (untilMs !== null && untilMs <= atMs) throw wrong("until", '"until" must be after "at".');
  if (untilMs !== null && untilMs > atMs + DAY_MS) {
    throw wrong("until", '"until" may be a day after "at" at most; say it again, or with "repeat": "daily".');
  }
  return {
    model,
    atMs,
    untilMs,
    repeat,
    jobs,
    priority: typeof priority === "number" ? priority : parsePriority(priority),
  };
}

function instantMs(field: string, value: number | string, afterMs: number): number {
  if (typeof value === "number") {
    if (value > 0 && value < LARGEST_UNIX) return value * 1_000;
    const unit = value >= LARGEST_UNIX ? "; these look like milliseconds" : "";
    throw wrong(field, `"${field}" must be Unix seconds, got ${value}${unit}.`);
  }
  const clock = CLOCK.exec(value.trim());
  if (clock !== null)
    return nextAt(
      clock.slice(1).map((each) => Number(each ?? 0)),
      afterMs,
    );
  const parsedMs = ISO.test(value.trim()) ? Date.parse(value.trim()) : Number.NaN;
  if (Number.isFinite(parsedMs)) return parsedMs;
  throw wrong(
    field,
    `"${field}" must be Unix seconds, an instant such as 2026-12-01T02:00:00Z, or a time such as 02:00, got ${JSON.stringify(value)}.`,
  );
}

/** The next time that the clock on the router's wall shows this. */
function nextAt([hours = 0, minutes = 0, seconds = 0]: readonly number[], afterMs: number): number {
  const date = new Date(afterMs);
  date.setHours(hours, minutes, seconds, 0);
  if (date.getTime() <= afterMs) date.setDate(date.getDate() + 1);
  return date.getTime();
}

function durationMs(value: number | string): number {
  const text = String(value).trim();
  const [, hours, minutes, seconds] = DURATION.exec(text) ?? [];
  if (hours !== undefined || minutes !== undefined || seconds !== undefined) {
    return 1_000 * (3_600 * Number(hours ?? 0) + 60 * Number(minutes ?? 0) + Number(seconds ?? 0));
  }
  throw wrong("in", `"in" must be a duration such as 90s, 5m or 1h30m, got ${JSON.stringify(value)}.`);
}

function shapeError(issue: z.core.$ZodIssue | undefined, body: unknown): SirError {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return new SirError("invalid_body", 'A hint is a JSON object such as {"model": "coder", "at": "02:00"}.');
  }
  if (issue?.code === "unrecognized_keys") {
    const known = Object.keys(HintRequestSchema.shape).join(", ");
    return wrong(issue.keys[0] ?? "", `A hint has no field "${issue.keys[0]}"; it has ${known}.`);
  }
  const field = String(issue?.path[0] ?? "");
  if (field === "priority") return wrong(field, `"priority" must be an integer, or one of ${WORDS.join(", ")}.`);
  return wrong(field, `"${field}" is not as it must be: ${issue?.message ?? "unknown"}.`);
}

function wrong(param: string, message: string): SirError {
  return new SirError("invalid_body", message, { param });
}
