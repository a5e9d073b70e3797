// Questions and orders to a server beside the requests of callers: JSON there and back, bounded in bytes and, on the
// injected clock, in time. Errors are words that hold no body and no key.

import type { Dispatcher } from "undici";
import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { messageOf } from "../http-errors.ts";

const ANSWER_BYTES = 4 * 1024 * 1024;
const TEXT_CHARS = 300;

/** `down`: nobody listens there, so nothing is loaded there either. `silent`: no answer, and nothing follows from it. */
export class ServerError extends Error {
  readonly kind: "down" | "silent" | "given up";

  constructor(message: string, kind: ServerError["kind"], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ServerError";
    this.kind = kind;
  }
}

export interface Ask {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  /** Null: until the signal ends it, for orders that are answered when they are carried out. */
  readonly limitMs: number | null;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** Null when it is no JSON. */
  readonly json: unknown;
  readonly text: string;
  /** The server's own message, one line of at most 300 characters, or its status. */
  readonly message: string;
}

export class ServerHttp {
  readonly origin: string;
  /** E.g. `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  readonly #dispatcher: Dispatcher;

  constructor(
    origin: string,
    headers: Readonly<Record<string, string>>,
    using: { readonly clock: Clock; readonly dispatcher: Dispatcher },
  ) {
    this.origin = origin;
    this.headers = headers;
    this.#clock = using.clock;
    this.#dispatcher = using.dispatcher;
  }

  /** Resolves with any status. @throws {ServerError} when no whole answer came */
  async ask(ask: Ask): Promise<Answer> {
    const { signal, limitMs } = ask;
    const what = `${ask.method} ${ask.path}`;
    if (signal.aborted) throw new ServerError(`${what} was given up`, "given up");
    const done = new AbortController();
    const ended = AbortSignal.any([signal, done.signal]);
    const answered = this.#exchange(ask, ended).catch((error: unknown) => {
      throw this.#inWords(error, what);
    });
    answered.catch(() => undefined);
    const untilMs = limitMs === null ? Number.POSITIVE_INFINITY : this.#clock.nowMs() + limitMs;
    const late = this.#expiry(untilMs, ended).then((): never => {
      if (signal.aborted) throw new ServerError(`${what} was given up`, "given up");
      throw new ServerError(`${this.origin} did not answer ${what} within ${(limitMs ?? 0) / 1000} s`, "silent");
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([answered, late]);
    } finally {
      done.abort();
    }
  }

  #expiry(untilMs: number, signal: AbortSignal): Promise<void> {
    if (Number.isFinite(untilMs)) return sleepUntil(this.#clock, untilMs, signal);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  async #exchange({ method, path, body }: Ask, signal: AbortSignal): Promise<Answer> {
    const { statusCode: status, body: stream } = await this.#dispatcher.request({
      origin: this.origin,
      path,
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > ANSWER_BYTES) throw new ServerError(`${this.origin} answered with over 4 MiB`, "silent");
      chunks.push(chunk);
    }
    const whole = Buffer.concat(chunks);
    const text = whole.toString("utf8");
    return { status, text, json: parse(text), message: messageOf(whole) ?? plainly(text, status) };
  }

  #inWords(error: unknown, what: string): ServerError {
    if (error instanceof ServerError) return error;
    const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "no answer";
    if (code === "ECONNREFUSED") {
      return new ServerError(`nothing listens at ${this.origin} (connection refused): start the server`, "down", error);
    }
    return new ServerError(`${this.origin} gave no answer to ${what} (${code})`, "silent", error);
  }
}

function plainly(text: string, status: number): string {
  const line = text.trim();
  const readable = line !== "" && !line.startsWith("<") && !line.startsWith("{") && line.length <= TEXT_CHARS;
  return readable ? line.replace(/[\p{Cc}\s]+/gu, " ") : `status ${status}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
