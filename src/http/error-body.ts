// The only place that turns an error into a response: OpenAI's envelope, always as JSON, always with all four keys.

import { SirError } from "../domain/errors.ts";
import { StoreError } from "../store/store.ts";

const DEFAULT_RETRY_MS = 5_000;

export interface ErrorContext {
  /** The caller may repeat the request without doing it twice (a read, or a write under a key). */
  readonly safeToRepeat: boolean;
  /** Hears of errors that nobody foresaw; their text goes to the log only. */
  readonly onUnknown: (error: unknown) => void;
}

export interface ErrorFields {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

export function errorResponse(error: unknown, context: ErrorContext): Response {
  const known = asSirError(error, context);
  const response = envelope(known.kind.status, errorFields(known));
  const { retryAfterMs, allow } = known.detail;
  if (known.kind.retryable) response.headers.set("retry-after", String(retryAfterSeconds(retryAfterMs)));
  if (known.kind.status === 401) response.headers.set("www-authenticate", 'Bearer realm="sir"');
  if (allow !== undefined) response.headers.set("allow", allow.join(", "));
  const mayHaveHappened = error instanceof StoreError && error.outcome === "unknown";
  if (mayHaveHappened && !context.safeToRepeat) response.headers.set("x-should-retry", "false");
  return response;
}

export function errorFields(error: SirError): ErrorFields {
  return { message: error.message, type: error.kind.type, param: error.detail.param ?? null, code: error.code };
}

export function envelope(status: number, error: ErrorFields, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ error }), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** Whole seconds, 1 to 60: SDKs sleep for hours on more, and hammer on 0. */
export function retryAfterSeconds(waitMs: number | undefined): number {
  const seconds = Math.ceil((waitMs ?? DEFAULT_RETRY_MS) / 1000);
  return Number.isFinite(seconds) ? Math.min(60, Math.max(1, seconds)) : 60;
}

function asSirError(error: unknown, context: ErrorContext): SirError {
  if (error instanceof SirError) return error;
  if (error instanceof StoreError) {
    const text =
      error.outcome === "unknown"
        ? "The store did not say whether it took the write. Repeat the request with an Idempotency-Key."
        : "The store cannot be reached; nothing was written. Try again later.";
    context.onUnknown(error);
    return new SirError("store_unavailable", text, { cause: error });
  }
  context.onUnknown(error);
  return new SirError("internal_error", "The router failed to handle this request; its log has the details.");
}

export function invalidQuery(param: string, message: string): SirError {
  return new SirError("invalid_query", message, { param });
}

export function drainingError(): SirError {
  return new SirError("draining", "The router is going down and takes no new work. Try again in a moment.");
}

/** To a caller who was already waiting. */
export function brokenOffError(): SirError {
  return new SirError(
    "draining",
    "The router went down before it had answered this request. Send it again in a moment; " +
      "with `Prefer: respond-async` a request outlives the router.",
  );
}
