// One HTTP exchange, repeated while it fails and patience lasts.

import { ConnectionError, ForeignLocation } from "./errors.ts";
import { after, jittered, nowMs, pageUrl, pause } from "./platform.ts";

export type Fetch = typeof globalThis.fetch;
export type FetchInput = Parameters<Fetch>[0];
export type Signal = AbortSignal | undefined;

/** What is asked again: overload, a proxy's page, a router that restarts. */
const TRANSIENT: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const LONGEST_RETRY_AFTER_MS = 60_000;
const LONGEST_BACKOFF_MS = 8_000;
/** As many as the official SDKs take, however little time is granted. */
const LEAST_RETRIES = 2;
const ANSWER_MS = 30_000;

export interface Asking {
  readonly fetch: Fetch;
  readonly url: string | URL;
  readonly init: RequestInit;
  readonly signal: Signal;
  /** How long it may fail, try after try. */
  readonly retrySeconds: number;
  /** Each try must have its answer in this time; default 30 s. */
  readonly withinMs?: number;
  /** Whose body is left unread; all others are read whole within that time. */
  readonly keeps?: (response: Response) => boolean;
  /** False: one try. */
  readonly repeats?: boolean;
  /** A server that fails without saying when to come back is not asked more often than an SDK would. */
  readonly costly?: boolean;
}

export interface Reply {
  readonly response: Response;
  /** Empty where the body is unread. */
  readonly text: string;
}

/** Whether it may be otherwise next time. A job's end is not, whatever its status. */
export function isTransient({ status, headers }: Response): boolean {
  return TRANSIENT.has(status) && headers.get("x-should-retry") !== "false" && !headers.has("sir-job-status");
}

/** The answer; a failure only where asking again does not help, or not any more. @throws {ConnectionError} */
export async function ask(asking: Asking): Promise<Reply> {
  const { signal, repeats = true } = asking;
  const startedMs = nowMs();
  for (let failures = 0; ; ) {
    let reply: Reply | undefined;
    let error: unknown;
    try {
      reply = await once(asking);
    } catch (thrown) {
      signal?.throwIfAborted();
      error = thrown;
    }
    if (reply !== undefined && !isTransient(reply.response)) return reply;
    const askedToWaitMs = retryAfterMs(reply?.response);
    const waitMs = askedToWaitMs ?? Math.min(LONGEST_BACKOFF_MS, 500 * 2 ** failures);
    const enough = asking.costly && reply !== undefined && askedToWaitMs === null;
    const inTime = nowMs() - startedMs + waitMs <= asking.retrySeconds * 1000;
    failures += 1;
    if (repeats && (failures <= LEAST_RETRIES || (inTime && !enough))) await pause(jittered(waitMs), signal);
    else if (reply !== undefined) return reply;
    else throw new ConnectionError("connection_failed", `The server did not answer: ${error}`, error);
  }
}

async function once({ fetch, url, init, signal, withinMs = ANSWER_MS, keeps }: Asking): Promise<Reply> {
  const late = new AbortController();
  const stop = after(withinMs, () => late.abort(`no answer in ${withinMs} ms`));
  try {
    const response = await fetch(url, { ...init, signal: either(signal, late.signal) });
    const handedOn = keeps?.(response) === true && !isTransient(response);
    // Read to its end rather than cancelled, so that the socket can be used again; a copy, so that it can be handed on.
    return { response, text: handedOn ? "" : await response.clone().text() };
  } finally {
    stop();
  }
}

export function either(one: Signal, other: AbortSignal): AbortSignal {
  return one === undefined ? other : AbortSignal.any([one, other]);
}

/** `Retry-After` in seconds, at most a minute; null when there is none, or a date. */
export function retryAfterMs(response?: Response): number | null {
  const text = response?.headers.get("retry-after");
  const ms = text ? Number(text) * 1000 : Number.NaN;
  return ms >= 0 ? Math.min(LONGEST_RETRY_AFTER_MS, ms) : null;
}

export function urlOf(input: FetchInput): URL {
  return new URL(typeof input === "object" && "url" in input ? input.url : input, pageUrl());
}

/** The URL that a response points to. @throws {ForeignLocation} unless it is on the origin of `asked` */
export function sameOrigin(location: string, asked: URL, response: Response): URL {
  const target = new URL(location, response.url || asked);
  if (target.origin === asked.origin) return target;
  const message = `${asked.origin} points to ${target.origin}: not followed. Is it a proxy's doing?`;
  throw new ForeignLocation("foreign_location", message);
}
