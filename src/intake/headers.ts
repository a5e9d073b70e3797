// What a request's headers ask for. Hints that cannot be read are ignored; promises (deadline, lease) and keys that
// cannot be read are refused, because a caller would rely on them.

import { parsePriority } from "../domain/band.ts";
import { SirError } from "../domain/errors.ts";

const LEASE_MAX_MS = 86_400_000;
const DEADLINE_MAX_MS = 30 * 86_400_000;
const CLIENT_REQUEST_ID = /^[\x20-\x7e]{1,512}$/;
const KEY = /^[\x21-\x7e]{1,255}$/;
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const DURATION = /^(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s?)?$/;
const SECONDS = /^\d{1,9}(?:\.\d{1,6})?$/;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const FORWARDED = ["accept", "user-agent"] as const;

type HeaderOf = (name: string) => string | null;

interface HeaderSettings {
  /** For callers who name none. */
  readonly leaseMs: number;
  readonly sweepMs: number;
}

export interface HeaderFields {
  /** Null: no header speaks, and the body's `service_tier` may. */
  readonly priority: number | null;
  /** Null: `none`. */
  readonly leaseMs: number | null;
  readonly deadlineMs: number | null;
  /** A deadline that cannot be met is to be refused, not queued. */
  readonly refuseInfeasible: boolean;
  readonly idempotencyKey: string | null;
  readonly retryCount: number | null;
  readonly traceparent: string | null;
  readonly clientRequestId: string | null;
  /** For the engine, by lower-case name. */
  readonly forwarded: Readonly<Record<string, string>>;
}

/** @throws {SirError} invalid_header, invalid_idempotency_key */
export function readHeaders(header: HeaderOf, settings: HeaderSettings): HeaderFields {
  const priority = header("sir-priority") ?? header("x-llamaswap-priority");
  const clientRequestId = header("x-client-request-id");
  const forwarded: Record<string, string> = {};
  for (const name of FORWARDED) {
    const value = header(name);
    if (value !== null && value !== "") forwarded[name] = value;
  }
  return {
    priority: priority === null ? null : parsePriority(priority),
    leaseMs: readLease(header("sir-lease"), settings),
    deadlineMs: readDeadline(header("cancel-after")),
    refuseInfeasible: readInfeasible(header("sir-infeasible")),
    idempotencyKey: readIdempotencyKey(header("idempotency-key")),
    retryCount: readRetryCount(header("x-stainless-retry-count")),
    traceparent: readTraceparent(header("traceparent")),
    clientRequestId: clientRequestId !== null && CLIENT_REQUEST_ID.test(clientRequestId) ? clientRequestId : null,
    forwarded,
  };
}

/** A structured-field string or the bare word: both are the same key. */
function readIdempotencyKey(text: string | null): string | null {
  if (text === null) return null;
  const quoted = QUOTED.exec(text.trim())?.[1];
  const key = quoted === undefined ? text.trim() : quoted.replace(/\\(["\\])/g, "$1");
  const isOpen = quoted === undefined && key.startsWith('"');
  if (!isOpen && KEY.test(key)) return key;
  throw new SirError(
    "invalid_idempotency_key",
    `Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, bare or in double quotes, got ${text.length} characters.`,
    { param: "Idempotency-Key" },
  );
}

/** `90s`, `5m`, `1h30m`, or plain seconds. */
function readDeadline(text: string | null): number | null {
  if (text === null) return null;
  const [, hours, minutes, seconds] = DURATION.exec(text.trim()) ?? [];
  const spelled = hours !== undefined || minutes !== undefined || seconds !== undefined;
  const ms = 1000 * (3600 * Number(hours ?? 0) + 60 * Number(minutes ?? 0) + Number(seconds ?? 0));
  if (spelled && ms > 0 && ms <= DEADLINE_MAX_MS) return ms;
  throw new SirError(
    "invalid_header",
    `Cancel-After must be a duration such as 90s, 5m or 1h30m, above zero and at most 30 days, got ${quote(text)}.`,
    { param: "Cancel-After" },
  );
}

/** A caller who asks for a refusal relies on it, so a word that is neither is refused itself. */
function readInfeasible(text: string | null): boolean {
  const word = text?.trim().toLowerCase() ?? "accept";
  if (word === "refuse" || word === "accept") return word === "refuse";
  throw new SirError("invalid_header", `SIR-Infeasible must be "refuse" or "accept", got ${quote(text ?? "")}.`, {
    param: "SIR-Infeasible",
  });
}

function readLease(text: string | null, settings: HeaderSettings): number | null {
  if (text === null) return settings.leaseMs;
  const word = text.trim().toLowerCase();
  if (word === "none") return null;
  const ms = SECONDS.test(word) ? Math.round(Number(word) * 1000) : Number.NaN;
  if (ms > settings.sweepMs && ms <= LEASE_MAX_MS) return ms;
  throw new SirError(
    "invalid_header",
    `SIR-Lease must be "none" or seconds above ${settings.sweepMs / 1000} and at most ${LEASE_MAX_MS / 1000}, got ${quote(text)}.`,
    { param: "SIR-Lease" },
  );
}

/** W3C Trace Context; anything invalid counts as absent. Of a later version only what this one defines is kept. */
function readTraceparent(text: string | null): string | null {
  const match = text === null ? null : TRACEPARENT.exec(text);
  if (match === null) return null;
  const [whole, version, traceId = "", parentId = "", more] = match;
  if (version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return whole.slice(0, 55);
}

function readRetryCount(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text.trim()) ? Number(text) : null;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
