// Settings to spread into the clients that people use already, one line each: where the router is, a fetch that waits,
// and no timeouts or retries that would work against it.

import { baseUrlFrom } from "./endpoints.ts";
import type { Fetch } from "./exchange.ts";
import { environment, LONGEST_TIMER_MS } from "./platform.ts";
import { type SirFetchOptions, sirFetch } from "./sir-fetch.ts";

export interface SirOptions extends SirFetchOptions {
  /** Ends in `/v1`. Default: `SIR_URL` with `/v1`, else `SIR_BASE_URL`, else http://127.0.0.1:8000/v1. */
  readonly baseURL?: string | undefined;
  /** Default: `SIR_API_KEY`, else `none`, because SDKs insist on one. */
  readonly apiKey?: string | undefined;
}

/** `new OpenAI(sir())`, or `new OpenAI({ ...sir({ baseURL, apiKey }), defaultHeaders })`. */
export function sir(options: SirOptions = {}) {
  // Infinity would be a timeout of one millisecond.
  return { ...sirProvider(options), timeout: LONGEST_TIMER_MS, maxRetries: 0 };
}

/**
 * `createOpenAI(sirProvider())` or `createOpenAICompatible({ name: "sir", ...sirProvider() })` of the Vercel AI SDK.
 * Pass `maxRetries: 0` to `generateText` and its kin: that cannot be set here.
 */
export function sirProvider(options: SirOptions = {}): { baseURL: string; apiKey: string; fetch: Fetch } {
  const { baseURL, apiKey, ...fetchOptions } = options;
  return {
    baseURL: baseUrlFrom(baseURL),
    apiKey: apiKey ?? environment("SIR_API_KEY") ?? "none",
    fetch: sirFetch(fetchOptions),
  };
}

/** `new ChatOpenAI({ model, ...sirLangChain() })`, and `OpenAIEmbeddings` alike. */
export function sirLangChain(options: SirOptions = {}) {
  const { baseURL, fetch, ...rest } = sir(options);
  return { ...rest, configuration: { baseURL, fetch } };
}
