// A fetch that makes any SDK aware of SIR: it submits, waits for the job, and returns the engine's own answer. What the
// caller sends and receives is never read or rewritten, and a server that knows nothing of SIR notices two headers.

import { type Fetch, type FetchInput, urlOf } from "./exchange.ts";
import { Limit } from "./limit.ts";
import { cancel, credentialsIn, headersOf, type JobAddress, submit } from "./submit.ts";
import { answerOf, type Waiting } from "./wait.ts";
import type { Receipt } from "./wire.ts";

export interface SirFetchOptions {
  /** What requests are sent with; default the global one. */
  readonly fetch?: Fetch | undefined;
  /** How long the router holds each poll; 1 to 60, default 25. Lower it where a proxy cuts silent requests sooner. */
  readonly waitSeconds?: number | undefined;
  /** How long a submit that does not get through is repeated; default 20. Twice at least, as SDKs do. */
  readonly submitRetrySeconds?: number | undefined;
  /** How long polls may fail, one after the other, before the job is given up; default 300. */
  readonly pollRetrySeconds?: number | undefined;
  /**
   * From submit to answer, for each request; above zero. When it passes, the job is cancelled and the call throws a
   * `TimeoutError`; the router is told at once (`Cancel-After`). Default: none.
   */
  readonly deadlineSeconds?: number | undefined;
  /** `interactive`, `normal`, `batch` or an integer; sent as `SIR-Priority`. */
  readonly priority?: string | number | undefined;
  /** Hears of each receipt while the job waits: its place, the load in progress, the estimate. */
  readonly onStatus?: ((receipt: Receipt) => void) | undefined;
}

/**
 * A `fetch` for an SDK. Only POSTs are changed, and of these only such as set no `Prefer` of their own. Give the SDK no
 * timeout and no retries of its own, as `sir()` does: it would abort a job that waits, and start it anew.
 */
export function sirFetch(options: SirFetchOptions = {}): Fetch {
  const { waitSeconds, submitRetrySeconds, pollRetrySeconds, onStatus } = patienceOf(options);
  return async (input, init = {}) => {
    const fetch = options.fetch ?? globalThis.fetch;
    const request = typeof input === "object" && "clone" in input ? input : undefined;
    const method = init.method ?? request?.method ?? "GET";
    if (method.toUpperCase() !== "POST" || headersOf(input, init).has("prefer")) return fetch(input, init);
    const limit = new Limit({ signal: init.signal ?? request?.signal, deadlineSeconds: options.deadlineSeconds });
    const { signal } = limit;
    try {
      const headers = wishes(options);
      const sent = await submit({ fetch, input, init, signal, retrySeconds: submitRetrySeconds, headers });
      if (sent.job === null) return endsWith(sent.response, { fetch, input, init, signal });
      const waiting = { waitSeconds, retrySeconds: pollRetrySeconds, signal, onStatus };
      return await answerOrCancel(sent.job, sent.receipt, waiting);
    } finally {
      limit.close();
    }
  };
}

/** @throws {RangeError} for an option that could not work */
export function patienceOf(options: SirFetchOptions) {
  const { waitSeconds = 25, submitRetrySeconds = 20, pollRetrySeconds = 300, onStatus } = options;
  if (!(waitSeconds >= 1 && waitSeconds <= 60)) throw new RangeError(`waitSeconds must be 1 to 60, got ${waitSeconds}`);
  return { waitSeconds: Math.floor(waitSeconds), submitRetrySeconds, pollRetrySeconds, onStatus };
}

export function wishes({ priority, deadlineSeconds }: SirFetchOptions): Record<string, string | undefined> {
  return {
    "sir-priority": priority === undefined ? undefined : String(priority),
    "cancel-after": deadlineSeconds === undefined ? undefined : `${Math.ceil(deadlineSeconds)}s`,
  };
}

/** Whatever keeps the caller from the answer cancels the job. */
async function answerOrCancel(job: JobAddress, receipt: Receipt | null, waiting: Waiting): Promise<Response> {
  try {
    if (receipt !== null) waiting.onStatus?.(receipt);
    return await answerOf(job, waiting);
  } catch (error) {
    void cancel(job);
    throw error;
  }
}

interface Asked {
  readonly fetch: Fetch;
  readonly input: FetchInput;
  readonly init: RequestInit;
  readonly signal: AbortSignal | undefined;
}

/**
 * An answer that came without a receipt, as it is. A stream of the router's ends with its caller: a request with a key
 * would else keep its place for a while, because its caller could come back.
 */
function endsWith(response: Response, { fetch, input, init, signal }: Asked): Response {
  const id = response.headers.get("sir-job-id");
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream");
  const [, root] = /^(.*\/v1)\//.exec(urlOf(input).pathname) ?? [];
  if (signal === undefined || id === null || !streams || root === undefined) return response;
  const url = new URL(`${root}/jobs/${id}`, urlOf(input));
  const job: JobAddress = { fetch, url, init: { headers: credentialsIn(headersOf(input, init)), redirect: "manual" } };
  const onAbort = (): void => void cancel(job);
  signal.addEventListener("abort", onAbort, { once: true });
  // A signal may outlive thousands of answers.
  forgotten?.register(response, () => signal.removeEventListener("abort", onAbort));
  return response;
}

const forgotten =
  typeof FinalizationRegistry === "undefined" ? null : new FinalizationRegistry<() => void>((forget) => forget());
