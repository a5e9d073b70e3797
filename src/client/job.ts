// One job, as the process that submitted it or any other with the same key sees it.

import { parsed, refusal, SirError } from "./errors.ts";
import { eventsOf, type JobEvent } from "./events.ts";
import type { Reply, Signal } from "./exchange.ts";
import { type LimitOptions, limited } from "./limit.ts";
import { askJob, type JobAddress, type Submitted } from "./submit.ts";
import { answerOf, type OnStatus } from "./wait.ts";
import type { Receipt } from "./wire.ts";
import type { ExplanationWire } from "./wire-explain.ts";

export interface WaitOptions extends LimitOptions {
  /** Hears of each receipt while the job waits. */
  readonly onStatus?: OnStatus;
}

export class Job {
  /** Null where the server made no job and answered at once, as a plain engine does: `result()` has that answer. */
  readonly id: string | null;
  /** The newest that is known; null before the first. */
  receipt: Receipt | null;
  readonly #submitted: Submitted;

  constructor(submitted: Submitted) {
    this.id = submitted.job?.url.pathname.split("/").at(-1) ?? null;
    this.receipt = submitted.receipt;
    this.#submitted = submitted;
  }

  /** Reads the receipt; that renews the lease. */
  refresh(options: LimitOptions = {}): Promise<Receipt> {
    return this.#received("", options);
  }

  /**
   * The engine's answer, parsed. Giving up (signal, deadline) does not cancel the job; `cancel()` does.
   * @throws {JobFailed | JobCancelled | JobExpired | JobNotFound | DeadlineExceeded}
   */
  result<T = unknown>(options: WaitOptions = {}): Promise<T> {
    return limited(options, async (signal) => {
      const response = await this.#response(options, signal);
      return parsedAnswer<T>({ response, text: await response.text() });
    });
  }

  /** The engine's answer as it is, for audio and other bytes; not OK where the job failed or was cancelled. */
  response(options: WaitOptions = {}): Promise<Response> {
    return limited(options, (signal) => this.#response(options, signal));
  }

  /** From the state now to the end, through broken connections. Leaving the loop leaves the job alone. */
  async *events({ signal }: { readonly signal?: Signal } = {}): AsyncGenerator<JobEvent, void> {
    if (this.id === null) return;
    for await (const event of eventsOf(this.#job, signal)) {
      this.receipt = event.receipt;
      yield event;
    }
  }

  /** Changes nothing when it is over; the receipt says how it ended. */
  cancel(options: LimitOptions = {}): Promise<Receipt> {
    return this.#received("/cancel", options, "POST");
  }

  /** Why it waited as long as it did, split by cause. @throws {ApiError} `route_not_found` by a router that cannot say */
  async explain(options: LimitOptions = {}): Promise<ExplanationWire> {
    return parsedAnswer<ExplanationWire>(await this.#ask("/explain", options));
  }

  #ask(part: string, options: LimitOptions, method = "GET"): Promise<Reply> {
    return limited(options, (signal) => askJob(this.#job, part, { signal }, method));
  }

  async #received(part: string, options: LimitOptions, method?: string): Promise<Receipt> {
    this.receipt = parsedAnswer<Receipt>(await this.#ask(part, options, method));
    return this.receipt;
  }

  async #response({ onStatus }: WaitOptions, signal: Signal): Promise<Response> {
    const { job, response } = this.#submitted;
    if (job === null) return response.clone();
    const heard = (receipt: Receipt): void => {
      this.receipt = receipt;
      onStatus?.(receipt);
    };
    return answerOf(job, signal, heard);
  }

  get #job(): JobAddress {
    if (this.#submitted.job !== null) return this.#submitted.job;
    throw new SirError("no_job", "The server made no job: it answered at once.");
  }
}

/** @throws {ApiError} where it says no, {SirError} `not_json` where it is none */
export function parsedAnswer<T>({ response, text }: Reply): T {
  if (!response.ok) throw refusal(response, text);
  const value = parsed(text);
  if (value !== undefined) return value as T;
  const type = response.headers.get("content-type");
  throw new SirError("not_json", `The answer is ${type}, not JSON: read it with response().`);
}
