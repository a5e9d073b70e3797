// Sending a request so that it becomes one job, however often it has to be sent.

import { isReceipt, parsed } from "./errors.ts";
import { exchange, type Fetch, type FetchInput, isTransient, Patience, sameOrigin, urlOf } from "./exchange.ts";
import { newKey, pause } from "./platform.ts";
import type { Receipt } from "./wire.ts";

export interface Submission {
  readonly fetch: Fetch;
  readonly input: FetchInput;
  readonly init: RequestInit;
  readonly signal: AbortSignal | undefined;
  readonly retrySeconds: number;
  /** Set where the caller has not set them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A job, or the server's own answer where it made none. */
export type Submitted =
  | { readonly job: JobAddress; readonly receipt: Receipt | null; readonly response: null }
  | { readonly job: null; readonly response: Response };

/** A job as seen from the client: where it is, and with what it may be asked. */
export interface JobAddress {
  readonly fetch: Fetch;
  readonly url: URL;
  /**
   * For each request about the job: the caller's credentials and what is special to its runtime, but no body. Redirects
   * are not followed, because fetch follows them to other origins too.
   */
  readonly init: RequestInit;
}

/** All that a request about a job takes along: the rest of the first request's headers is about its body. */
const CREDENTIALS = ["authorization", "x-api-key", "api-key"];

export async function submit(submission: Submission): Promise<Submitted> {
  const { fetch, input, init, signal } = submission;
  const headers = headersOf(input, init);
  const wanted = { prefer: "respond-async", "idempotency-key": newKey(), ...submission.headers };
  for (const [name, value] of Object.entries(wanted)) {
    if (value !== undefined && !headers.has(name)) headers.set(name, value);
  }
  const response = await sendUntilTaken(submission, headers);
  const location = response.headers.get("location");
  // The id tells a receipt of this router from another server's 202.
  if (response.status !== 202 || location === null || !response.headers.has("sir-job-id")) {
    return { response, job: null };
  }
  const url = sameOrigin(location, urlOf(input), response);
  const job = { fetch, url, init: { ...withoutBody(init), headers: credentialsIn(headers) } };
  const receipt = parsed(await textOf(response, signal));
  return { job, receipt: isReceipt(receipt) ? receipt : null, response: null };
}

/** The receipt's text; empty where the connection broke in it, since its head says where the job is. */
async function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch {
    signal?.throwIfAborted();
    return "";
  }
}

function withoutBody(init: RequestInit & { duplex?: unknown }): RequestInit {
  const { body: _, duplex: __, signal: ___, headers: ____, ...rest } = init;
  return { ...rest, method: "GET", redirect: "manual" };
}

async function sendUntilTaken({ fetch, input, init, signal, retrySeconds }: Submission, headers: Headers) {
  const patience = new Patience(retrySeconds, true);
  const replayable = isReplayable(init.body);
  const send = (): Promise<Response> => {
    const own = { ...init, headers, signal: signal ?? null };
    return typeof input === "object" && "clone" in input ? fetch(new Request(input.clone(), own)) : fetch(input, own);
  };
  for (;;) {
    let failed: Response | undefined;
    let waitMs: number | null;
    try {
      const response = await send();
      if (!replayable || !isTransient(response)) return response;
      failed = response;
      waitMs = patience.next(response);
      if (waitMs === null) return response;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      waitMs = replayable ? patience.next() : null;
      if (waitMs === null) throw error;
    }
    await failed?.body?.cancel();
    await pause(waitMs, signal);
  }
}

export function headersOf(input: FetchInput, init: RequestInit | undefined): Headers {
  return new Headers(init?.headers ?? (typeof input === "object" && "headers" in input ? input.headers : {}));
}

export function credentialsIn(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => CREDENTIALS.includes(name)));
}

/** A stream can be read once; everything else that fetch takes can be sent again. */
function isReplayable(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return true;
  return !("getReader" in body || "pipe" in body || Symbol.asyncIterator in body);
}

/** Tells the router that nobody wants the answer any more. Never throws: if it does not arrive, the lease runs out. */
export async function cancel({ fetch, url, init }: JobAddress): Promise<Response | null> {
  const target = within(url, "cancel");
  try {
    const own = { ...init, method: "POST", signal: null };
    return (await exchange(fetch, target, own, 10_000, (response) => response.ok)).response;
  } catch {
    return null;
  }
}

export function within(job: URL, part: string): URL {
  const url = new URL(job);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${part}`;
  return url;
}
