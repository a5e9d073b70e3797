// The client for those who want jobs rather than an SDK's calls: submit here, read the answer there.

import { type EndpointOptions, Endpoints } from "./endpoints.ts";
import { ApiError, JobCancelled, JobNotFound, ModelNotRouted } from "./errors.ts";
import type { Fetch } from "./exchange.ts";
import { askAgain, Job, type JobSettings, type WaitOptions } from "./job.ts";
import { Limit, type LimitOptions } from "./limit.ts";
import { environment, newKey } from "./platform.ts";
import { patienceOf, type SirFetchOptions, wishes } from "./sir-fetch.ts";
import { type JobAddress, submit } from "./submit.ts";
import type { JobList, Receipt, WireStatus } from "./wire.ts";

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

export interface RunOptions extends SubmitOptions, WaitOptions {
  /** Once more when the job was lost: a router without its store, or a lease that ran out while the network was away. */
  readonly resubmitOnLoss?: boolean | undefined;
}

export interface ListOptions extends LimitOptions {
  readonly status?: WireStatus | readonly WireStatus[] | undefined;
  readonly model?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Jobs a page, 1 to 100; all pages are read. */
  readonly pageSize?: number | undefined;
}

/** A request's body: `model`, and whatever its endpoint takes. */
export type RequestJson = { readonly model: string } & Readonly<Record<string, unknown>>;

export function createClient(options: ClientOptions = {}): Client {
  return new Client(options);
}

export class Client {
  readonly endpoints: Endpoints;
  readonly jobs = { list: (options: ListOptions = {}): AsyncGenerator<Receipt, void> => this.#list(options) };
  readonly #options: ClientOptions;
  readonly #settings: JobSettings;
  readonly #submitRetrySeconds: number;
  readonly #credentials: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;

  constructor(options: ClientOptions) {
    const { waitSeconds, submitRetrySeconds, pollRetrySeconds } = patienceOf(options);
    const apiKey = options.apiKey ?? environment("SIR_API_KEY");
    this.endpoints = new Endpoints(options);
    this.#options = options;
    this.#settings = { waitSeconds, retrySeconds: pollRetrySeconds };
    this.#submitRetrySeconds = submitRetrySeconds;
    this.#credentials = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    // Called unbound: browsers and workers refuse a fetch that is some object's method.
    this.#fetch = (input, init) => {
      const { fetch = globalThis.fetch } = options;
      return fetch(input, init);
    };
  }

  /**
   * Submits, waits, and returns the engine's answer, parsed; a plain engine's too. One deadline for all of it. Giving up
   * (signal, deadline) cancels the job.
   * @throws {JobFailed | JobCancelled | JobExpired | ApiError | DeadlineExceeded | ModelNotRouted}
   */
  async run<T = unknown>(body: RequestJson, given: RunOptions = {}): Promise<T> {
    const deadlineSeconds = given.deadlineSeconds ?? this.#options.deadlineSeconds;
    const limit = new Limit({ signal: given.signal, deadlineSeconds });
    const wanted = { ...given, idempotencyKey: given.idempotencyKey ?? newKey(), deadlineSeconds };
    const once = async (): Promise<T> => {
      const job = await this.#send(body, wanted, limit.signal);
      try {
        if (job.receipt !== null) given.onStatus?.(job.receipt);
        return await job.result<T>({ signal: limit.signal, onStatus: given.onStatus });
      } catch (error) {
        // The router's own word is about a job that is over, or not the caller's.
        if (!(error instanceof ApiError)) job.abandon();
        throw error;
      }
    };
    try {
      return await once().catch((error: unknown) => {
        if (given.resubmitOnLoss !== true || !isLoss(error)) throw error;
        return once();
      });
    } finally {
      limit.close();
    }
  }

  /**
   * The job, as soon as the router has it on disk; from a plain engine one that has its answer already. `deadlineSeconds`
   * is the job's own deadline.
   */
  async submit(body: RequestJson, options: SubmitOptions = {}): Promise<Job> {
    return this.#send(body, options, options.signal ?? undefined);
  }

  /** A job that was submitted elsewhere. @param model Tells where it is, when there are several endpoints. */
  job(id: string, model?: string): Job {
    const baseURL = model === undefined ? this.#only() : this.endpoints.resolve(model);
    const url = new URL(`${baseURL}/jobs/${encodeURIComponent(id)}`);
    const job: JobAddress = { fetch: this.#fetch, url, init: { headers: this.#credentials, redirect: "manual" } };
    return new Job({ job, receipt: null, response: null }, this.#settings);
  }

  /** Registers the models of all known endpoints, or of these. @returns their names and aliases, sorted */
  discover(urls?: readonly string[]): Promise<string[]> {
    return this.endpoints.discover(this.#fetch, this.#credentials, urls);
  }

  async #send(body: RequestJson, given: SubmitOptions, signal: AbortSignal | undefined): Promise<Job> {
    const { endpoint = "/chat/completions", leaseSeconds, idempotencyKey = newKey(), deadlineSeconds } = given;
    const headers = {
      ...wishes({ priority: given.priority ?? this.#options.priority, deadlineSeconds }),
      "sir-lease": leaseSeconds === undefined ? undefined : String(leaseSeconds),
      "idempotency-key": idempotencyKey,
    };
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", ...this.#credentials, ...given.headers },
      body: JSON.stringify(body),
    };
    const input = `${this.endpoints.resolve(body.model)}/${endpoint.replace(/^\/?(v1\/)?/, "")}`;
    const retrySeconds = this.#submitRetrySeconds;
    return new Job(await submit({ fetch: this.#fetch, input, init, signal, retrySeconds, headers }), this.#settings);
  }

  async *#list({ model, ...options }: ListOptions): AsyncGenerator<Receipt, void> {
    const limit = new Limit(options);
    const init = { headers: this.#credentials, signal: limit.signal ?? null };
    try {
      for (const baseURL of model === undefined ? this.endpoints.all : [this.endpoints.resolve(model)]) {
        const url = new URL(`${baseURL}/jobs`);
        for (const [name, value] of queryOf({ model, ...options })) url.searchParams.set(name, value);
        for (let more = true; more; ) {
          const page = (await askAgain(this.#fetch, url, init, this.#submitRetrySeconds)) as JobList;
          yield* page.data;
          more = page.has_more && page.last_id !== null;
          url.searchParams.set("after", page.last_id ?? "");
        }
      }
    } finally {
      limit.close();
    }
  }

  #only(): string {
    const [first = "", ...others] = this.endpoints.all;
    if (others.length === 0) return first;
    throw new ModelNotRouted("model_not_routed", "There are several endpoints: say which model the job is for.");
  }
}

function queryOf({ status, model, metadata = {}, order, pageSize = 100 }: ListOptions): [string, string][] {
  const plain = { status: status?.toString(), model, order, limit: String(pageSize) };
  const pairs = Object.entries(plain).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
  return [...pairs, ...Object.entries(metadata).map(([key, value]): [string, string] => [`metadata[${key}]`, value])];
}

function isLoss(error: unknown): boolean {
  return error instanceof JobNotFound || (error instanceof JobCancelled && error.reason === "lease_expired");
}
