// The client for those who want jobs rather than an SDK's calls: submit here, read the answer there.

import { baseUrlFrom, type EndpointOptions, type Endpoints, endpointsOf } from "./endpoints.ts";
import { ApiError, SirError } from "./errors.ts";
import { ask, type Fetch, type Signal } from "./exchange.ts";
import { Job, parsedAnswer, type WaitOptions } from "./job.ts";
import { type LimitOptions, limited } from "./limit.ts";
import { environment } from "./platform.ts";
import { patienceOf, type SirFetchOptions, wishes } from "./sir-fetch.ts";
import { addressOf, cancel, type Patience, type Submitted, submit } from "./submit.ts";
import type { JobList, ModelList, Receipt, WireStatus } from "./wire.ts";

export interface ClientOptions extends EndpointOptions, Omit<SirFetchOptions, "onStatus"> {
  /** Default: `SIR_API_KEY`; without one no credentials are sent. */
  readonly apiKey?: string | undefined;
}

export interface SubmitOptions extends LimitOptions {
  /** Below `/v1`; default `/chat/completions`. */
  readonly endpoint?: string | undefined;
  readonly priority?: string | number | undefined;
  /** Submits with the same key and body are one job, from whatever process. Default: a new one for each call. */
  readonly idempotencyKey?: string | undefined;
  /** How long the job lives without a poll; `none` where the router allows it. Default: the router's. */
  readonly leaseSeconds?: number | "none" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface RunOptions extends SubmitOptions, WaitOptions {}

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
  readonly status?: WireStatus | readonly WireStatus[] | undefined;
  readonly model?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Jobs a page, 1 to 100; all pages are read. */
  readonly pageSize?: number | undefined;
}

/** A request's body: `model`, and whatever its endpoint takes. */
export type RequestJson = { readonly model: string } & Readonly<Record<string, unknown>>;

export interface Client {
  readonly endpoints: Endpoints;
  /**
   * Submits, waits, and returns the engine's answer, parsed; a plain engine's too. One deadline for all of it. Giving up
   * (signal, deadline) cancels the job.
   * @throws {JobFailed | JobCancelled | JobExpired | ApiError | DeadlineExceeded | ModelNotRouted}
   */
  run<T = unknown>(body: RequestJson, options?: RunOptions): Promise<T>;
  /**
   * The job, as soon as the router has it on disk; from a plain engine one that has its answer already. `deadlineSeconds`
   * is the job's own deadline.
   */
  submit(body: RequestJson, options?: SubmitOptions): Promise<Job>;
  /** A job that was submitted elsewhere. @param model Tells where it is; default: the endpoint for models not named. */
  job(id: string, model?: string): Job;
  readonly jobs: {
    /** All pages, one after the other; of all endpoints, unless a model says which. */
    list(options?: ListOptions): AsyncGenerator<Receipt, void>;
  };
  /**
   * Registers the models of all known endpoints, or of these.
   * @returns their names and aliases, sorted
   * @throws {SirError} ambiguous_model when two servers claim one name; nothing is registered then
   */
  discover(urls?: readonly string[]): Promise<string[]>;
}

/** What all its requests have in common. */
interface Site extends Patience {
  readonly endpoints: Endpoints;
  readonly fetch: Fetch;
  /** The caller's credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

export function createClient(options: ClientOptions = {}): Client {
  const { apiKey = environment("SIR_API_KEY"), priority, deadlineSeconds } = options;
  const endpoints = endpointsOf(options);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  // Called unbound: browsers and workers refuse a fetch that is some object's method.
  const fetch: Fetch = (input, init) => (options.fetch ?? globalThis.fetch)(input, init);
  const site: Site = { endpoints, fetch, headers, ...patienceOf(options) };
  return {
    endpoints,
    run: (body, given) => run(site, body, { priority, deadlineSeconds, ...given }),
    submit: async (body, given) => new Job(await send(site, body, { priority, ...given }, given?.signal ?? undefined)),
    job: (id, model = "") => {
      const url = new URL(`${endpoints.resolve(model)}/jobs/${encodeURIComponent(id)}`);
      return new Job({ job: addressOf(site, url, { headers }), receipt: null, response: null });
    },
    jobs: { list: (given = {}) => list(site, given) },
    discover: (urls = endpoints.all()) => discover(site, urls),
  };
}

function run<T>(site: Site, body: RequestJson, given: RunOptions): Promise<T> {
  return limited(given, async (signal) => {
    const { onStatus } = given;
    const sent = await send(site, body, given, signal);
    try {
      if (sent.receipt !== null) onStatus?.(sent.receipt);
      return await new Job(sent).result<T>({ signal, onStatus });
    } catch (error) {
      // The router's own word is about a job that is over, or not the caller's.
      if (sent.job !== null && !(error instanceof ApiError)) cancel(sent.job);
      throw error;
    }
  });
}

function send(site: Site, body: RequestJson, given: SubmitOptions, signal: Signal): Promise<Submitted> {
  const { endpoint = "/chat/completions", leaseSeconds, idempotencyKey } = given;
  const headers = { "content-type": "application/json", ...site.headers, ...given.headers };
  return submit({
    ...site,
    signal,
    input: `${site.endpoints.resolve(body.model)}/${endpoint.replace(/^\/?(v1\/)?/, "")}`,
    init: { method: "POST", headers, body: JSON.stringify(body) },
    headers: { ...wishes(given), "sir-lease": leaseSeconds, "idempotency-key": idempotencyKey },
  });
}

async function* list(site: Site, { model, status, order, pageSize, signal }: ListOptions) {
  const query = { model, status, order, limit: pageSize ?? 100 };
  for (const baseURL of model ? [site.endpoints.resolve(model)] : site.endpoints.all()) {
    const url = new URL(`${baseURL}/jobs`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
    for (let more = true; more; ) {
      const { data, has_more, last_id } = await read<JobList>(site, url, signal);
      yield* data;
      more = has_more && last_id !== null;
      url.searchParams.set("after", `${last_id}`);
    }
  }
}

async function discover(site: Site, urls: readonly string[]): Promise<string[]> {
  const found = new Map<string, string>();
  for (const baseURL of urls.map((url) => baseUrlFrom(url))) {
    const { data } = await read<ModelList>(site, `${baseURL}/models`);
    for (const name of data.flatMap(({ id, sir }) => [id, ...(sir?.aliases ?? [])])) {
      const other = found.get(name) ?? baseURL;
      if (other !== baseURL) throw new SirError("ambiguous_model", `Both ${other} and ${baseURL} have "${name}".`);
      found.set(name, baseURL);
    }
  }
  for (const [name, baseURL] of found) site.endpoints.register(name, baseURL);
  return [...found.keys()].sort();
}

async function read<T>({ fetch, headers, retrySeconds }: Site, url: string | URL, signal?: Signal): Promise<T> {
  return parsedAnswer<T>(await ask({ fetch, url, init: { headers }, signal, retrySeconds }));
}
