// Waiting for a job: long polls, one after the other, through failures and restarts, until the engine's own answer.

import { isReceipt, parsed } from "./errors.ts";
import { ask, retryAfterMs, type Signal, sameOrigin } from "./exchange.ts";
import { jittered, nowMs, pause } from "./platform.ts";
import { type JobAddress, within } from "./submit.ts";
import type { Receipt, WireStatus } from "./wire.ts";

export type OnStatus = ((receipt: Receipt) => void) | undefined;

/** The states that a job never leaves. A word that is not here is one that this client is too old for: not an end. */
const FINAL: ReadonlySet<string> = new Set<WireStatus>(["completed", "failed", "cancelled", "expired"]);
/** Beyond the hold: for the way there and back, and a router that is busy. */
const GRACE_MS = 15_000;
const LONGEST_PAUSE_MS = 30_000;

export function isFinal(status: string): boolean {
  return FINAL.has(status);
}

/** The stored answer as the router gives it, whatever its status; or a refusal such as 404. Cancels nothing. */
export async function answerOf(job: JobAddress, signal: Signal, onStatus: OnStatus): Promise<Response> {
  const { fetch, init, waitSeconds, retrySeconds } = job;
  const headers = { ...init.headers, prefer: `wait=${waitSeconds}` };
  let url = within(job.url, "/result");
  for (let shortHolds = 0; ; ) {
    const askedMs = nowMs();
    const { response, text } = await ask({
      fetch,
      url,
      init: { ...init, headers },
      keeps: (each) => !isPending(each),
      withinMs: waitSeconds * 1000 + GRACE_MS,
      signal,
      retrySeconds,
    });
    if (!isPending(response)) return response;
    const receipt = parsed(text);
    if (isReceipt(receipt)) onStatus?.(receipt);
    if (response.status !== 202) url = sameOrigin(response.headers.get("location") ?? "", url, response);
    const held = nowMs() - askedMs >= waitSeconds * 900;
    shortHolds = held ? 0 : shortHolds + 1;
    if (!held) await pause(pauseMs(response, shortHolds), signal);
  }
}

/** Also where a proxy points to another address on its own origin. */
function isPending({ status, headers }: Response): boolean {
  const word = headers.get("sir-job-status");
  return word === null ? status === 202 || (status >= 300 && status < 400 && headers.has("location")) : !isFinal(word);
}

/**
 * For a poll that came back at once: soon again at first, since the router may only be restarting, then no more often
 * than it says.
 */
function pauseMs(response: Response, shortHolds: number): number {
  return jittered(Math.max(100, Math.min(retryAfterMs(response) ?? LONGEST_PAUSE_MS, 250 * 2 ** shortHolds)));
}
