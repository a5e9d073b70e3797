// Whether an engine can serve: its health, the model's name in its list, one real token. A 200 from /health alone proves
// little: sleeping and hung engines say it too.

import type { Dispatcher } from "undici";
import { type Clock, sleepUntil } from "../domain/clock.ts";
import { LoadError } from "./backend.ts";

/** What a look at the health or the list of models may take. */
export const QUICK_MS = 2_000;
const LIST_BYTES = 4 * 1024 * 1024;
/** The first token may have to compile something. */
const TOKEN_MS = 120_000;
/** So many answers in a row that are no token, from an engine that calls itself healthy, end the load. */
const TOKEN_TRIES = 5;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export interface ProbeTarget {
  readonly origin: string;
  readonly healthPath: string;
  /** What the engine calls the model. */
  readonly servedName: string;
  /** E.g. `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** False: an engine without completions. */
  readonly token: boolean;
  /** False: an engine whose list of models does not name it. Default: it does. */
  readonly listed?: boolean;
  /** Appended to the paths of requests for a token, e.g. `?autoload=false`. */
  readonly query?: string;
}

export interface Probing {
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Asked {
  readonly path: string;
  /** Default: POST with a body, GET without. */
  readonly method?: "GET" | "POST";
  readonly body?: object;
  readonly limitMs: number;
}

/**
 * Resolves once the model can serve; `warming` is called when only the token is missing.
 * Rejects when the signal is aborted. @throws {LoadError} when the engine is up but cannot do it
 */
export async function untilReady(
  target: ProbeTarget,
  using: Probing,
  signal: AbortSignal,
  warming: () => void,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  let wrong = 0;
  let told = false;
  for (;;) {
    if (signal.aborted) throw new LoadError("the load was given up");
    if (await listsModel(target, using, signal)) {
      if (!target.token) return;
      if (!told) warming();
      told = true;
      const fault = await tokenFault(target, using, signal);
      if (fault === null) return;
      if (++wrong >= TOKEN_TRIES && !signal.aborted) {
        throw new LoadError(`the engine is up, but a request for one token failed ${wrong} times: ${fault}`);
      }
    }
    await sleepUntil(using.clock, using.clock.nowMs() + pauseMs, signal);
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
  }
}

/** Healthy, and lists the model. Cheap; false while the engine is not up, or takes longer than two seconds. */
export async function listsModel(target: ProbeTarget, using: Probing, signal: AbortSignal): Promise<boolean> {
  const health = await ask(target, using, { path: target.healthPath, limitMs: QUICK_MS }, signal);
  if (health === null || health.status < 200 || health.status >= 300) return false;
  if (target.listed === false) return true;
  const list = await ask(target, using, { path: "/v1/models", limitMs: QUICK_MS }, signal);
  return list !== null && list.status === 200 && namesIn(list.text).includes(target.servedName);
}

/** The ids of an OpenAI list of models; none when it is something else. */
function namesIn(text: string): unknown[] {
  try {
    const { data } = JSON.parse(text) as { data?: { id?: unknown }[] };
    return Array.isArray(data) ? data.map((each) => each?.id) : [];
  } catch {
    return [];
  }
}

/**
 * Asks for one token, as a completion and, where that does not exist, as a chat. An engine that has neither (embeddings,
 * rerank) says so with a 4xx and is taken as it is.
 *
 * @returns What went wrong, in words; null when the model answers or has nothing to complete.
 */
export async function tokenFault(target: ProbeTarget, using: Probing, signal: AbortSignal): Promise<string | null> {
  const asks = { model: target.servedName, max_tokens: 1, stream: false };
  const tries = [
    { path: "/v1/completions", body: { ...asks, prompt: "1" } },
    { path: "/v1/chat/completions", body: { ...asks, messages: [{ role: "user", content: "1" }] } },
  ];
  for (const each of tries) {
    const answer = await ask(
      target,
      using,
      { ...each, path: each.path + (target.query ?? ""), limitMs: TOKEN_MS },
      signal,
    );
    if (answer === null) return `no answer to ${each.path} within ${TOKEN_MS / 1000} s, or the connection broke`;
    if (answer.status < 300) return null;
    if (answer.status === 401 || answer.status === 403) return `${each.path} answered ${answer.status}: check the key`;
    if (answer.status >= 500 || answer.status === 429) return `${each.path} answered ${answer.status}`;
  }
  return null;
}

/** One short question to an engine; null when no whole answer came in time. */
export async function ask(
  target: Pick<ProbeTarget, "origin" | "headers">,
  using: Probing,
  asked: Asked,
  signal: AbortSignal,
): Promise<Answer | null> {
  if (signal.aborted) return null;
  const { clock, dispatcher } = using;
  const done = new AbortController();
  const end = (): void => done.abort();
  signal.addEventListener("abort", end, { once: true });
  const answered = (async (): Promise<Answer | null> => {
    const { statusCode: status, body } = await dispatcher.request({
      origin: target.origin,
      path: asked.path,
      method: asked.method ?? (asked.body === undefined ? "GET" : "POST"),
      headers: { ...target.headers, ...(asked.body === undefined ? {} : { "content-type": "application/json" }) },
      body: asked.body === undefined ? null : JSON.stringify(asked.body),
      signal: done.signal,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > LIST_BYTES) return null;
      chunks.push(chunk);
    }
    return { status, text: Buffer.concat(chunks).toString("utf8") };
  })().catch(() => null);
  const late = sleepUntil(clock, clock.nowMs() + asked.limitMs, done.signal).then(() => null);
  try {
    return await Promise.race([answered, late]);
  } finally {
    signal.removeEventListener("abort", end);
    done.abort();
  }
}
