// Sending a request so that it becomes one job, however often it has to be sent.

import { isReceipt, parsed } from "./errors.ts";
import {
  type Asking,
  ask,
  type Fetch,
  type FetchInput,
  type Reply,
  type Signal,
  sameOrigin,
  urlOf,
} from "./exchange.ts";
import { LONGEST_TIMER_MS, newKey } from "./platform.ts";
import type { Receipt } from "./wire.ts";

export interface Patience {
  /** How long the router holds each poll, 1 to 60. */
  readonly waitSeconds: number;
  /** How long requests about a job may fail, one after the other, before it is given up. */
  readonly retrySeconds: number;
}

export interface Submission extends Patience {
  readonly fetch: Fetch;
  readonly input: FetchInput;
  readonly init: RequestInit;
  readonly signal: Signal;
  /** Set where the caller has not set them. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A job, or the server's own answer where it made none. */
export type Submitted =
  | { readonly job: JobAddress; readonly receipt: Receipt | null; readonly response: null }
  | { readonly job: null; readonly receipt: null; readonly response: Response };

/** A job as seen from the client: where it is, and with what it may be asked. */
export interface JobAddress extends Patience {
  readonly fetch: Fetch;
  readonly url: URL;
  /** The caller's credentials, and what is special to its runtime. */
  readonly init: RequestInit & { readonly headers: Readonly<Record<string, string>> };
}

/** How long a submit that does not get through is repeated: whoever waits should hear of it soon. */
const SUBMIT_RETRY_SECONDS = 20;
/** All that a request about a job takes along: the rest of the first request's headers is about its body. */
const CREDENTIALS = ["authorization", "x-api-key", "api-key"];

export async function submit({ input, init, signal, headers: more, ...site }: Submission): Promise<Submitted> {
  const { fetch } = site;
  const headers = new Headers(init.headers);
  const set = (name: string, value: unknown): void => {
    if (value !== undefined && !headers.has(name)) headers.set(name, `${value}`);
  };
  for (const [name, value] of Object.entries({ prefer: "respond-async", ...more })) set(name, value);
  set("idempotency-key", newKey());
  const own = { ...init, headers };
  const { response, text } = await ask({
    fetch: (_, each) => (isRequest(input) ? fetch(new Request(input.clone(), each)) : fetch(input, each)),
    url: "",
    init: own,
    keeps: (each) => !isTaken(each),
    signal,
    retrySeconds: Math.min(SUBMIT_RETRY_SECONDS, site.retrySeconds),
    withinMs: LONGEST_TIMER_MS,
    repeats: isReplayable(init.body),
    costly: true,
  });
  if (!isTaken(response)) return { job: null, receipt: null, response };
  const url = sameOrigin(response.headers.get("location") ?? "", urlOf(input), response);
  const receipt = parsed(text);
  return { job: addressOf(site, url, own), receipt: isReceipt(receipt) ? receipt : null, response: null };
}

/** A receipt of this router's, told from another server's 202 by the id. */
function isTaken({ status, headers }: Response): boolean {
  return status === 202 && headers.has("location") && headers.has("sir-job-id");
}

/** What of a request's options is for its job too. Redirects are not, because fetch follows them to other origins. */
export function addressOf(
  site: Patience & { fetch: Fetch },
  url: URL,
  init: RequestInit & { duplex?: unknown },
): JobAddress {
  const { body: _, duplex: __, signal: ___, ...rest } = init;
  const credentials = [...new Headers(init.headers)].filter(([name]) => CREDENTIALS.includes(name));
  const headers = Object.fromEntries(credentials);
  return { ...site, url, init: { ...rest, method: "GET", redirect: "manual", headers } };
}

export function isRequest(input: FetchInput): input is Request {
  return typeof input === "object" && "clone" in input;
}

/** A stream can be read once; everything else that fetch takes can be sent again. */
function isReplayable(body: unknown): boolean {
  const { getReader, pipe, [Symbol.asyncIterator]: iterate } = Object(body) as Record<string | symbol, unknown>;
  return (getReader ?? pipe ?? iterate) === undefined;
}

/** A request about the job; `part` of it, or the job itself. */
export function askJob(
  { fetch, url, init, retrySeconds }: JobAddress,
  part: string,
  { headers, ...asking }: Partial<Asking> & { headers?: object; signal: Signal },
  method = "GET",
): Promise<Reply> {
  const own = { ...init, method, headers: { ...init.headers, ...headers } };
  return ask({ fetch, url: within(url, part), init: own, retrySeconds, ...asking });
}

/** Tells the router that nobody wants the answer any more. Never throws: if it does not arrive, the lease runs out. */
export function cancel(job: JobAddress): void {
  askJob(job, "/cancel", { signal: undefined, retrySeconds: 0 }, "POST").catch(() => undefined);
}

export function within(job: URL, part: string): URL {
  const url = new URL(job);
  url.pathname += part;
  return url;
}
