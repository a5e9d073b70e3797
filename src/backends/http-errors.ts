// What went wrong between us and an engine, in words that hold no body, no prompt and no key.

import { errors } from "undici";
import type { Outcome } from "./backend.ts";

const MESSAGE_CHARS = 300;

const LOST_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset before an answer",
  EPIPE: "the connection was closed before an answer",
  UND_ERR_SOCKET: "the connection was closed before an answer",
  UND_ERR_CONNECT_TIMEOUT: "no connection within 10 s",
  ETIMEDOUT: "no connection in time",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name could not be looked up",
};

function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return typeof code === "string" ? code : "unknown";
}

/** The call ended before the head of an answer came. */
export function endedBeforeHead(error: unknown): Outcome {
  const code = codeOf(error);
  const unreadable = error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
  if (unreadable) {
    return { kind: "failed", code: "backend_error", detail: "the engine's answer is not HTTP" };
  }
  if (code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH" || code === "UND_ERR_INVALID_ARG") {
    return { kind: "failed", code: "backend_error", detail: `the request could not be sent as it is (${code})` };
  }
  return { kind: "lost", detail: LOST_WORDS[code] ?? `no answer (${code})` };
}

/** The call ended after the head of an answer and before its last byte. */
export function endedInBody(error: unknown): Outcome {
  return { kind: "failed", code: "backend_error", detail: `the answer was cut before its end (${codeOf(error)})` };
}

/** An error body's own message, if it is JSON of a usual shape: one line, 300 characters at most. */
export function messageOf(body: Uint8Array): string | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return null;
  }
  for (const key of ["error", "message", "detail"]) {
    if (typeof value !== "object" || value === null || !(key in value)) continue;
    value = (value as Record<string, unknown>)[key];
    if (typeof value === "string") return oneLine(value);
  }
  return null;
}

function oneLine(text: string): string {
  return text
    .slice(0, MESSAGE_CHARS)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}

/** `Retry-After` in seconds or as a date, or OpenAI's `retry-after-ms`; null when it says nothing that can be read. */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  wallMs: number,
): number | null {
  const exact = first(headers["retry-after-ms"]);
  if (exact !== undefined && /^\d+(\.\d+)?$/.test(exact)) return Number(exact);
  const text = first(headers["retry-after"])?.trim();
  if (text === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - wallMs);
}

/** The first of a header's lines. */
export function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
