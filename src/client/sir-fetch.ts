// A fetch that makes any SDK aware of SIR: it submits, waits for the job, and returns the engine's own answer. What the
// caller sends and receives is never read or rewritten, and a server that knows nothing of SIR notices two headers.

import { type Fetch, type Signal, urlOf } from "./exchange.ts";
import { limited } from "./limit.ts";
import { addressOf, cancel, isRequest, type JobAddress, type Patience, submit } from "./submit.ts";
import { answerOf, type OnStatus } from "./wait.ts";

/** The longest stream that is ended at once. */
const STREAM_MS = 3_600_000;

export interface SirFetchOptions {
  /** What requests are sent with; default the global one. */
  readonly fetch?: Fetch | undefined;
  /** How long the router holds each poll; 1 to 60, default 25. Lower it where a proxy cuts silent requests sooner. */
  readonly waitSeconds?: number | undefined;
  /**
   * How long polls may fail, one after the other, before the job is given up; default 300. A submit that does not get
   * through is repeated as long, but at most for 20, and twice at least, as SDKs do.
   */
  readonly retrySeconds?: number | undefined;
  /**
   * From submit to answer, for each request; above zero. When it passes, the job is cancelled and the call throws a
   * `TimeoutError`; the router is told at once (`Cancel-After`). Default: none.
   */
  readonly deadlineSeconds?: number | undefined;
  /** `interactive`, `normal`, `batch` or an integer; sent as `SIR-Priority`. */
  readonly priority?: string | number | undefined;
  /** Hears of each receipt while the job waits: its place, the load in progress, the estimate. */
  readonly onStatus?: OnStatus;
}

/**
 * A `fetch` for an SDK. Only POSTs are changed, and of these only such as set no `Prefer` of their own. Give the SDK no
 * timeout and no retries of its own, as `sir()` does: it would abort a job that waits, and start it anew.
 */
export function sirFetch(options: SirFetchOptions = {}): Fetch {
  const patience = patienceOf(options);
  return async (input, given = {}) => {
    const { fetch = globalThis.fetch, deadlineSeconds, onStatus } = options;
    const { method, headers, signal: own } = isRequest(input) ? input : given;
    const init = { method, headers, signal: own, ...given } as RequestInit;
    if (!/^post$/i.test(`${init.method}`) || new Headers(init.headers).has("prefer")) return fetch(input, given);
    return limited({ signal: init.signal, deadlineSeconds }, async (signal) => {
      const site = { fetch, ...patience };
      const { job, response, receipt } = await submit({ ...site, input, init, signal, headers: wishes(options) });
      if (job === null) {
        endWith(signal, response, (url) => addressOf(site, url, init), urlOf(input));
        return response;
      }
      try {
        if (receipt !== null) onStatus?.(receipt);
        return await answerOf(job, signal, onStatus);
      } catch (error) {
        // Whatever keeps the caller from the answer.
        cancel(job);
        throw error;
      }
    });
  };
}

/** @throws {RangeError} for a hold that could not work */
export function patienceOf({ waitSeconds = 25, retrySeconds = 300 }: SirFetchOptions): Patience {
  if (waitSeconds >= 1 && waitSeconds <= 60) return { waitSeconds: Math.floor(waitSeconds), retrySeconds };
  throw new RangeError(`waitSeconds must be 1 to 60, got ${waitSeconds}`);
}

export function wishes({ priority, deadlineSeconds }: SirFetchOptions): Record<string, unknown> {
  return { "sir-priority": priority, "cancel-after": deadlineSeconds && `${Math.ceil(deadlineSeconds)}s` };
}

/**
 * A stream of the router's ends with its caller: a request with a key would else keep its place for a while, because its
 * caller could come back.
 */
function endWith(signal: Signal, { headers }: Response, addressAt: (url: URL) => JobAddress, { href }: URL): void {
  const url = new URL(href.replace(/\/v1\/.*/, `/v1/jobs/${headers.get("sir-job-id")}`));
  // Forgotten after a while, because a signal may outlive thousands of answers.
  const until = { once: true, signal: AbortSignal.timeout(STREAM_MS) };
  if (headers.has("sir-job-id")) signal?.addEventListener("abort", () => cancel(addressAt(url)), until);
}
