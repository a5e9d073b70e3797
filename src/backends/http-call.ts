// One call to an engine over HTTP, used by every driver that speaks it. undici's `request` with its own limits off (they
// would end a long generation after 300 s); never its `fetch`, which unzips silently.

import { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../domain/clock.ts";
import type { Call, Head, Outcome, Sink } from "./backend.ts";
import { Deadlines } from "./http-deadlines.ts";
import { endedBeforeHead, endedInBody, first, messageOf, retryAfterMs } from "./http-errors.ts";
import { watchAnswer } from "./stream-end.ts";

/** Of a 5xx, 429 or 503 as much is read, for its message. */
const ERROR_BODY_BYTES = 64 * 1024;
/** A 4xx goes back byte for byte up to here; more is a fault of the engine. */
const REFUSAL_BYTES = 8 * 1024 * 1024;

const ABORTED: Outcome = { kind: "aborted" };
const failed = (detail: string): Outcome => ({ kind: "failed", code: "backend_error", detail });

export interface Upstream {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** The driver's own, e.g. `authorization`. They win over the call's. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Connections to engines, without undici's limits on waiting. Idle ones are closed after 2 s, below what servers allow,
 * so that a request seldom meets a connection that its server is closing.
 */
export function openDispatcher(): Agent {
  return new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 2000, keepAliveMaxTimeout: 30_000 });
}

/** Never rejects. After an abort it resolves once the socket is closed. */
export async function httpCall(
  upstream: Upstream,
  call: Call,
  sink: Sink,
  signal: AbortSignal,
  using: { readonly clock: Clock; readonly dispatcher: Dispatcher },
): Promise<Outcome> {
  if (signal.aborted) return ABORTED;
  const deadlines = new Deadlines(using.clock, call, signal);
  const exchange = new Exchange(call, sink, deadlines, using.clock);
  try {
    return await exchange.run(upstream, using.dispatcher);
  } catch (error) {
    if (signal.aborted) return ABORTED;
    if (deadlines.expired !== null) {
      return { kind: "failed", code: "execution_timeout", detail: deadlines.expired };
    }
    return exchange.wordsFor(error);
  } finally {
    deadlines.end();
  }
}

type Answer = Dispatcher.ResponseData;

class Exchange {
  readonly #call: Call;
  readonly #sink: Sink;
  readonly #deadlines: Deadlines;
  readonly #clock: Clock;
  #headCame = false;
  #bodyBroke = false;
  #sinkBroke = false;

  constructor(call: Call, sink: Sink, deadlines: Deadlines, clock: Clock) {
    this.#call = call;
    this.#sink = sink;
    this.#deadlines = deadlines;
    this.#clock = clock;
  }

  async run(upstream: Upstream, dispatcher: Dispatcher): Promise<Outcome> {
    const answer = await this.#send(upstream, dispatcher);
    this.#headCame = true;
    answer.body.on("error", () => {});
    const { statusCode: status } = answer;
    if (status === 429 || status >= 500) return this.#judgeError(answer);
    if (status < 200 || (status >= 300 && status < 400)) {
      answer.body.destroy();
      return failed(`the engine answered ${status}; redirects are not followed: configure the address itself`);
    }
    const coding = first(answer.headers["content-encoding"]);
    if (coding !== undefined && coding.toLowerCase() !== "identity") {
      answer.body.destroy();
      return failed(`the engine answered with content-encoding ${coding.slice(0, 20)} though identity was asked for`);
    }
    return status < 300 ? this.#deliver(answer) : this.#refuse(answer);
  }

  wordsFor(error: unknown): Outcome {
    if (this.#bodyBroke) return failed("the stored request could not be read");
    if (this.#sinkBroke) return failed("the answer could not be taken");
    return this.#headCame ? endedInBody(error) : endedBeforeHead(error);
  }

  #send(upstream: Upstream, dispatcher: Dispatcher): Promise<Answer> {
    const answer = dispatcher.request({
      origin: upstream.origin,
      path: upstream.path,
      method: "POST",
      headers: {
        ...this.#call.headers,
        "content-type": this.#call.contentType,
        "accept-encoding": "identity",
        ...upstream.headers,
        "content-length": String(this.#call.sizeBytes),
      },
      body: this.#call.sizeBytes === 0 ? null : Readable.from(this.#body()),
      signal: this.#deadlines.signal,
    });
    // Before a connection stands, undici lets an abort wait for it; we do not.
    return this.#unlessEnded(answer, (late) => late.body.on("error", () => {}).destroy());
  }

  async *#body(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#call.body();
    } catch (error) {
      this.#bodyBroke = true;
      throw error;
    }
  }

  async #deliver(answer: Answer): Promise<Outcome> {
    const head = headOf(answer);
    const watch = watchAnswer(this.#call.endpoint, head.headers["content-type"]);
    this.#take(() => this.#sink.head(head));
    for await (const chunk of answer.body) {
      this.#deadlines.heard();
      watch.push(chunk);
      await this.#pass(chunk);
    }
    const wrong = watch.verdict();
    return wrong === null ? { kind: "succeeded" } : failed(wrong);
  }

  async #refuse(answer: Answer): Promise<Outcome> {
    this.#take(() => this.#sink.head(headOf(answer)));
    let bytes = 0;
    for await (const chunk of answer.body) {
      this.#deadlines.heard();
      bytes += chunk.byteLength;
      if (bytes > REFUSAL_BYTES) return failed(`the engine's ${answer.statusCode} has a body of over 8 MiB`);
      await this.#pass(chunk);
    }
    return { kind: "refused" };
  }

  /** 5xx and 429: read for their message, within bounds; nothing of them reaches the sink. */
  async #judgeError(answer: Answer): Promise<Outcome> {
    this.#deadlines.errorBody();
    const status = answer.statusCode;
    const message = await this.#errorMessage(answer);
    const detail = `the engine answered ${status}${message === null ? "" : `: ${message}`}`;
    if (status !== 429 && status !== 503) return failed(detail);
    return { kind: "busy", retryAfterMs: retryAfterMs(answer.headers, this.#clock.wallMs()), detail };
  }

  /** The status alone is the verdict: a body that is cut, slow or too long only costs its message. */
  async #errorMessage(answer: Answer): Promise<string | null> {
    const kept: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of answer.body) {
        bytes += chunk.byteLength;
        if (bytes > ERROR_BODY_BYTES) return null;
        kept.push(chunk);
      }
    } catch (error) {
      if (this.#deadlines.signal.aborted && this.#deadlines.expired === null) throw error;
      return null;
    }
    return messageOf(Buffer.concat(kept));
  }

  /** Waits for room, but no longer than the call lives. */
  async #pass(chunk: Uint8Array): Promise<void> {
    const room = this.#take(() => this.#sink.chunk(chunk));
    if (room === undefined) return;
    this.#deadlines.blocked();
    const broken = (error: unknown): never => {
      this.#sinkBroke = true;
      throw error;
    };
    await this.#unlessEnded(room.catch(broken), () => {});
    this.#deadlines.heard();
  }

  #take<T>(give: () => T): T {
    try {
      return give();
    } catch (error) {
      this.#sinkBroke = true;
      throw error;
    }
  }

  /** `promise`, or a rejection as soon as the call ends; what comes after that is disposed of. */
  #unlessEnded<T>(promise: Promise<T>, dispose: (late: T) => void): Promise<T> {
    const { signal } = this.#deadlines;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        reject(new Error("ended"));
        promise.then(dispose, () => {});
      };
      if (signal.aborted) return end();
      signal.addEventListener("abort", end, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
    });
  }
}

function headOf(answer: Answer): Head {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "content-disposition"]) {
    const value = first(answer.headers[name]);
    if (value !== undefined) headers[name] = value;
  }
  return { status: answer.statusCode, headers };
}
