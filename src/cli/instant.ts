// Instants as people type them: ISO dates, a time of today, `yesterday`, or how long ago (`2h`, `1d12h`).

import { UsageError } from "./command.ts";
import type { Zone } from "./zone.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
/** No timer reaches further. */
const LONGEST_MS = 24 * 86_400_000;
const AGO = /^(\d+(?:\.\d+)?[smhdw])+$/;
const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:?\d{2})?$/;

/** A length of time such as `90s` or `1d12h` in ms; null when it is none. */
export function parseSpan(text: string): number | null {
  if (!AGO.test(text)) return null;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)([smhdw])/g))
    ms += Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  return ms;
}

/** Seconds from `90s`, `1h30m` or a plain number of them. @throws {UsageError} */
export function spanSeconds(text: string, flag: string): number {
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * 1_000 : parseSpan(text.trim());
  if (ms !== null && ms > 0 && ms <= LONGEST_MS) return ms / 1_000;
  throw new UsageError(`--${flag} "${text}" is no length of time up to 24 days. Write 20, 90s, 20m or 1h30m.`);
}

/**
 * @param text Without a zone it is local time.
 * @throws {UsageError} saying what may be written
 */
export function parseInstant(text: string, flag: string, nowMs: number): number {
  const word = text.trim();
  if (word === "now") return nowMs;
  if (word === "today") return dayStart(nowMs, 0);
  if (word === "yesterday") return dayStart(nowMs, -1);
  const agoMs = parseSpan(word);
  if (agoMs !== null) return nowMs - agoMs;
  const [, hours, minutes, seconds = "0"] = TIME.exec(word) ?? [];
  if (hours !== undefined && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60)
    return dayStart(nowMs, 0) + Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1_000;
  const atMs = DATE.test(word)
    ? Date.parse(`${word}T00:00`)
    : DATE_TIME.test(word)
      ? Date.parse(word.replace(" ", "T"))
      : Number.NaN;
  if (Number.isFinite(atMs)) return atMs;
  throw new UsageError(
    `--${flag} "${text}" is no instant. Write how long ago (2h, 90m, 1d12h), yesterday, 14:30, or 2026-03-01T14:30 (local time unless it ends in Z or an offset).`,
  );
}

function dayStart(nowMs: number, days: number): number {
  const day = new Date(nowMs);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime();
}

/** `2026-03-01 14:30:05` */
export function instantText(atMs: number, zone: Zone): string {
  return zone.tell(atMs);
}

/** `14:30:05` */
export function timeText(atMs: number, zone: Zone): string {
  return zone.tell(atMs).slice(11);
}
