// One job, as the process that submitted it or any other with the same key sees it.

import { isReceipt, parsed, refusal, SirError } from "./errors.ts";
import { eventsOf, type JobEvent } from "./events.ts";
import { exchange, type Fetch, isTransient, Patience } from "./exchange.ts";
import { Limit, type LimitOptions } from "./limit.ts";
import { pause } from "./platform.ts";
import { cancel, type JobAddress, type Submitted, within } from "./submit.ts";
import { answerOf } from "./wait.ts";
import type { Receipt } from "./wire.ts";

export interface WaitOptions extends LimitOptions {
  /** Hears of each receipt while the job waits. */
  readonly onStatus?: ((receipt: Receipt) => void) | undefined;
}

export interface JobSettings {
  readonly waitSeconds: number;
  readonly retrySeconds: number;
}

const ANSWER_MS = 30_000;

export class Job {
  /** Null where the server made no job and answered at once, as a plain engine does: `result()` has that answer. */
  readonly id: string | null;
  readonly #address: JobAddress | null;
  readonly #answer: Response | null;
  readonly #settings: JobSettings;
  #receipt: Receipt | null = null;

  constructor(submitted: Submitted, settings: JobSettings) {
    this.#address = submitted.job;
    this.#answer = submitted.response;
    this.#settings = settings;
    this.#receipt = submitted.job === null ? null : submitted.receipt;
    const last = submitted.job?.url.pathname.split("/").at(-1);
    this.id = last === undefined ? null : decodeURIComponent(last);
  }

  /** The newest that is known; null before the first. */
  get receipt(): Receipt | null {
    return this.#receipt;
  }

  /** Reads the receipt; that renews the lease. */
  async refresh(options: LimitOptions = {}): Promise<Receipt> {
    return this.#received(await this.#ask("GET", this.#url(null), options));
  }

  /**
   * The engine's answer, parsed. Giving up (signal, deadline) does not cancel the job; `cancel()` does.
   * @throws {JobFailed | JobCancelled | JobExpired | JobNotFound | DeadlineExceeded}
   */
  async result<T = unknown>(options: WaitOptions = {}): Promise<T> {
    const limit = new Limit(options);
    try {
      return await parsedAnswer<T>(await this.#response(options, limit.signal));
    } finally {
      limit.close();
    }
  }

  /** The engine's answer as it is, for audio and other bytes; not OK where the job failed or was cancelled. */
  async response(options: WaitOptions = {}): Promise<Response> {
    const limit = new Limit(options);
    try {
      return await this.#response(options, limit.signal);
    } finally {
      limit.close();
    }
  }

  /** From the state now to the end, through broken connections. Leaving the loop leaves the job alone. */
  async *events(options: LimitOptions = {}): AsyncGenerator<JobEvent, void> {
    if (this.#address === null) return;
    const limit = new Limit(options);
    try {
      for await (const event of eventsOf(this.#address, { ...this.#settings, signal: limit.signal })) {
        this.#receipt = event.receipt;
        yield event;
      }
    } finally {
      limit.close();
    }
  }

  /** Changes nothing when it is over; the receipt says how it ended. */
  async cancel(options: LimitOptions = {}): Promise<Receipt> {
    return this.#received(await this.#ask("POST", this.#url("cancel"), options));
  }

  /** Why it waited as long as it did, split by cause. @throws {SirError} `unsupported` by a router that cannot say */
  async explain(options: LimitOptions = {}): Promise<unknown> {
    try {
      return await this.#ask("GET", this.#url("explain"), options);
    } catch (error) {
      if (!(error instanceof SirError) || error.code !== "route_not_found") throw error;
      throw new SirError("unsupported", "This router does not explain jobs; a newer one does.", error);
    }
  }

  /** Cancels without waiting for it, and never throws. */
  abandon(): void {
    if (this.#address !== null) void cancel(this.#address);
  }

  #url(part: string | null): URL {
    if (this.#address === null)
      throw new SirError("no_job", "The server answered at once; there is no job to ask about.");
    return part === null ? this.#address.url : within(this.#address.url, part);
  }

  async #response({ onStatus }: WaitOptions, signal: AbortSignal | undefined): Promise<Response> {
    if (this.#address === null) return (this.#answer as Response).clone();
    const heard = (receipt: Receipt): void => {
      this.#receipt = receipt;
      onStatus?.(receipt);
    };
    return answerOf(this.#address, { ...this.#settings, signal, onStatus: heard });
  }

  #received(value: unknown): Receipt {
    if (!isReceipt(value)) throw new SirError("no_receipt", `The server's answer about ${this.id} is no receipt.`);
    this.#receipt = value;
    return value;
  }

  async #ask(method: string, url: URL, options: LimitOptions): Promise<unknown> {
    const { signal, close } = new Limit(options);
    const { fetch, init } = this.#address as JobAddress;
    try {
      return await askAgain(fetch, url, { ...init, method, signal: signal ?? null }, this.#settings.retrySeconds);
    } finally {
      close();
    }
  }
}

/** The JSON of a request that may be repeated. @throws {ApiError} */
export async function askAgain(fetch: Fetch, url: URL, init: RequestInit, retrySeconds: number): Promise<unknown> {
  const patience = new Patience(retrySeconds);
  for (;;) {
    const reply = await exchange(fetch, url, init, ANSWER_MS).catch((error: unknown) => {
      if (init.signal?.aborted) throw init.signal.reason;
      return { error, response: undefined };
    });
    const { response } = reply;
    if (response?.ok) return parsed(reply.text);
    const waitMs = response === undefined || isTransient(response) ? patience.next(response) : null;
    if (waitMs !== null) await pause(waitMs, init.signal ?? undefined);
    else if (response === undefined) throw reply.error;
    else throw refusal(response, reply.text);
  }
}

/** @throws {ApiError} where it says no, {SirError} `not_json` where it is none */
async function parsedAnswer<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (!response.ok) throw refusal(response, text);
  const value = parsed(text);
  if (value !== undefined) return value as T;
  const type = response.headers.get("content-type") ?? "untyped";
  throw new SirError("not_json", `The answer is ${type}, not JSON. Read it with response(), or stream with an SDK.`);
}
