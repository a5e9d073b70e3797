// Waiting for a job: long polls, one after the other, through failures and restarts, until the engine's own answer.

import { isReceipt, parsed } from "./errors.ts";
import { exchange, isTransient, Patience, retryAfterMs, sameOrigin } from "./exchange.ts";
import { jittered, nowMs, pause } from "./platform.ts";
import { type JobAddress, within } from "./submit.ts";
import type { Receipt, WireStatus } from "./wire.ts";

export interface Waiting {
  /** How long the router holds each poll, 1 to 60. */
  readonly waitSeconds: number;
  /** How long polls may fail, one after the other, before the job is given up. */
  readonly retrySeconds: number;
  readonly signal: AbortSignal | undefined;
  /** Hears of each receipt on the way. */
  readonly onStatus: ((receipt: Receipt) => void) | undefined;
}

/** The states that a job never leaves. A word that is not here is one that this client is too old for: not an end. */
const FINAL: ReadonlySet<string> = new Set<WireStatus>(["completed", "failed", "cancelled", "expired"]);
/** Beyond the hold: for the way there and back, and a router that is busy. */
const GRACE_MS = 15_000;
const LONGEST_PAUSE_MS = 30_000;

export function isFinal(status: string): boolean {
  return FINAL.has(status);
}

/** The stored answer as the router gives it, whatever its status; or a refusal such as 404. Cancels nothing. */
export async function answerOf(job: JobAddress, waiting: Waiting): Promise<Response> {
  const { signal, waitSeconds, onStatus } = waiting;
  const patience = new Patience(waiting.retrySeconds);
  const headers = { ...(job.init.headers as Record<string, string>), prefer: `wait=${waitSeconds}` };
  const init: RequestInit = { ...job.init, headers, signal: signal ?? null };
  const ask = () => exchange(job.fetch, url, init, waitSeconds * 1000 + GRACE_MS, isAnswer);
  let url = within(job.url, "result");
  let shortHolds = 0;
  for (;;) {
    const askedMs = nowMs();
    const reply = await ask().catch((error: unknown) => failure(error, signal));
    const { response } = reply;
    if (response !== undefined && isAnswer(response)) return response;
    if (response !== undefined && isPending(response)) {
      patience.reset();
      url = redirected(response, url);
      const receipt = parsed(reply.text);
      if (isReceipt(receipt)) onStatus?.(receipt);
      const held = nowMs() - askedMs >= waitSeconds * 900;
      shortHolds = held ? 0 : shortHolds + 1;
      if (!held) await pause(pauseMs(response, shortHolds), signal);
      continue;
    }
    const waitMs = patience.next(response);
    if (waitMs !== null) await pause(waitMs, signal);
    else if (response === undefined) throw reply.error;
    else return new Response(reply.text, { status: response.status, headers: response.headers });
  }
}

function failure(error: unknown, signal: AbortSignal | undefined): { error: unknown; response: undefined } {
  if (signal?.aborted) throw signal.reason;
  return { error, response: undefined };
}

/** What the caller gets: the job's end, or a refusal that asking again does not change. */
function isAnswer(response: Response): boolean {
  return !isPending(response) && (response.headers.has("sir-job-status") || !isTransient(response));
}

function isPending({ status, type, headers }: Response): boolean {
  const word = headers.get("sir-job-status");
  if (word !== null) return !isFinal(word);
  return status === 202 || isRedirect(status) || type === "opaqueredirect";
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Where to ask next. @throws {ForeignLocation} */
function redirected(response: Response, asked: URL): URL {
  if (response.type === "opaqueredirect") return sameOrigin("null:", asked);
  const location = response.headers.get("location");
  return isRedirect(response.status) && location !== null ? sameOrigin(location, asked, response) : asked;
}

/**
 * For a poll that came back at once: soon again at first, since the router may only be restarting, then no more often
 * than it says.
 */
function pauseMs(response: Response, shortHolds: number): number {
  const longestMs = Math.min(LONGEST_PAUSE_MS, retryAfterMs(response) ?? LONGEST_PAUSE_MS);
  return jittered(Math.max(100, Math.min(longestMs, 250 * 2 ** shortHolds)));
}
