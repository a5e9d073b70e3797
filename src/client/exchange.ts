// One HTTP exchange, and how patient the client is with those that fail.

import { ForeignLocation } from "./errors.ts";
import { after, jittered, nowMs, pageUrl } from "./platform.ts";

export type Fetch = typeof globalThis.fetch;
export type FetchInput = Parameters<Fetch>[0];

/** What is sent again: overload, a proxy's page, a router that restarts. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const LONGEST_RETRY_AFTER_MS = 60_000;
const LONGEST_BACKOFF_MS = 8_000;
/** As many as the official SDKs take, however little time is granted. */
const LEAST_RETRIES = 2;

export function isTransient(response: Response): boolean {
  return TRANSIENT.has(response.status) && response.headers.get("x-should-retry") !== "false";
}

export function urlOf(input: FetchInput): URL {
  const text = typeof input === "string" ? input : "url" in input ? input.url : input.href;
  return new URL(text, pageUrl());
}

/**
 * The URL that a response points to.
 * @throws {ForeignLocation} unless it is on the origin of `asked`
 */
export function sameOrigin(location: string, asked: URL, response?: Response): URL {
  const target = new URL(location, response?.url || asked);
  if (target.origin !== asked.origin) throw new ForeignLocation(target.origin, asked.origin);
  return target;
}

/** Fetches, and reads the whole body unless `keeps` says that it is handed on: all of it must happen in `withinMs`. */
export async function exchange(
  fetch: Fetch,
  url: URL,
  { signal, ...init }: RequestInit,
  withinMs: number,
  keeps: (response: Response) => boolean = () => false,
): Promise<{ response: Response; text: string }> {
  const late = new AbortController();
  const stop = after(withinMs, () => late.abort(new DOMException(`no answer in ${withinMs} ms`, "TimeoutError")));
  try {
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    const response = await fetch(url.href, { ...init, signal: either });
    // Read to its end rather than cancelled, so that the socket can be used again.
    return { response, text: keeps(response) ? "" : await response.text() };
  } finally {
    stop();
  }
}

/** Consecutive failures, and whether another try is still worth it. */
export class Patience {
  readonly #limitMs: number;
  readonly #costly: boolean;
  #failures = 0;
  #sinceMs = 0;

  /** @param costly A server that fails without saying when to come back is not asked more often than an SDK would. */
  constructor(limitSeconds: number, costly = false) {
    this.#limitMs = limitSeconds * 1000;
    this.#costly = costly;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** How long to pause before the next try; null when it is given up. */
  next(response?: Response): number | null {
    if (this.#failures === 0) this.#sinceMs = nowMs();
    const waitMs = retryAfterMs(response) ?? Math.min(LONGEST_BACKOFF_MS, 500 * 2 ** this.#failures);
    this.#failures += 1;
    const inTime = nowMs() - this.#sinceMs + waitMs <= this.#limitMs;
    const enough = this.#costly && response?.headers.has("retry-after") === false;
    return this.#failures <= LEAST_RETRIES || (inTime && !enough) ? jittered(waitMs) : null;
  }
}

/** `Retry-After` in seconds, at most a minute; null when there is none, or a date. */
export function retryAfterMs(response?: Response): number | null {
  const text = response?.headers.get("retry-after");
  const ms = text ? Number(text) * 1000 : Number.NaN;
  return ms >= 0 ? Math.min(LONGEST_RETRY_AFTER_MS, ms) : null;
}
