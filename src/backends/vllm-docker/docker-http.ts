// HTTP with one Docker engine: version agreed once, every call bounded in time on the injected clock, errors in words.

import type { Readable } from "node:stream";
import { Pool } from "undici";
import type { Clock } from "../../domain/clock.ts";
import { type DockerAddress, tlsFiles } from "./docker-address.ts";

/** The newest version of the API whose answers were read when this was written. */
const NEWEST_API = "1.51";
const NEGOTIATE_MS = 5_000;
const ANSWER_BYTES = 4 * 1024 * 1024;

/** `status` is null when no answer came. */
export class DockerError extends Error {
  readonly status: number | null;

  constructor(message: string, status: number | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "DockerError";
    this.status = status;
  }
}

export interface DockerCall {
  readonly method: "GET" | "POST" | "DELETE";
  /** Without the version, e.g. `/containers/json`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Until the whole answer is there, or, for a stream, its head. */
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

export interface DockerAnswer {
  readonly status: number;
  /** Parsed JSON, or null. */
  readonly json: unknown;
}

export class DockerHttp {
  readonly address: DockerAddress;
  readonly clock: Clock;
  #pool: Pool | null = null;
  #version: Promise<string> | null = null;

  constructor(address: DockerAddress, clock: Clock) {
    this.address = address;
    this.clock = clock;
  }

  /** Resolves with 2xx, 304 and 404; @throws {DockerError} otherwise */
  async ask(call: DockerCall): Promise<DockerAnswer> {
    const prefix = await this.#agreed();
    return this.#bounded(call, async (signal) => {
      const { statusCode: status, body } = await this.#send(prefix, call, signal);
      const text = await readText(body);
      const json = parse(text);
      if (status < 300 || status === 304 || status === 404) return { status, json };
      throw refusal(status, json, call);
    });
  }

  /** The body of a 2xx as it comes, without end; ends with the signal. @throws {DockerError} */
  async stream(call: DockerCall & { readonly signal: AbortSignal }): Promise<Readable> {
    const prefix = await this.#agreed();
    const ended = new AbortController();
    const end = (): void => ended.abort();
    if (call.signal.aborted) end();
    call.signal.addEventListener("abort", end, { once: true });
    try {
      return await this.#bounded(call, async (signal) => {
        const give = (): void => end();
        signal.addEventListener("abort", give, { once: true });
        const { statusCode: status, body } = await this.#send(prefix, call, ended.signal);
        signal.removeEventListener("abort", give);
        body.on("error", () => undefined);
        body.once("close", () => call.signal.removeEventListener("abort", end));
        if (status < 300) return body;
        throw refusal(status, parse(await readText(body)), call);
      });
    } catch (error) {
      end();
      call.signal.removeEventListener("abort", end);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #send(prefix: string, call: DockerCall, signal: AbortSignal) {
    const query = new URLSearchParams(call.query).toString();
    return this.#connections().request({
      method: call.method,
      path: `${prefix}${call.path}${query === "" ? "" : `?${query}`}`,
      headers: call.body === undefined ? {} : { "content-type": "application/json" },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal,
    });
  }

  /** Without limits of its own: a stop lasts as long as its grace. Idle connections are soon closed. */
  #connections(): Pool {
    const { origin, socketPath, tlsCertPath } = this.address;
    this.#pool ??= new Pool(origin, {
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 1000,
      connect: {
        timeout: 0,
        ...(socketPath === null ? {} : { socketPath }),
        ...(tlsCertPath === null ? {} : tlsFiles(tlsCertPath)),
      },
    });
    return this.#pool;
  }

  #agreed(): Promise<string> {
    this.#version ??= this.#negotiate().catch((error: unknown) => {
      this.#version = null;
      throw error;
    });
    return this.#version;
  }

  /** The engine's version, unless it is newer than ours; then ours, unless that is too old for it. */
  async #negotiate(): Promise<string> {
    const ping = { method: "GET", path: "/_ping", limitMs: NEGOTIATE_MS } as const;
    const offered = await this.#bounded(ping, async (signal) => {
      const { statusCode, headers, body } = await this.#send("", ping, signal);
      await readText(body);
      const version = headers["api-version"];
      if (statusCode < 300 && typeof version === "string") return version;
      throw new DockerError(
        `${this.address.host} answers, but not as a Docker engine (status ${statusCode})`,
        statusCode,
      );
    });
    if (compareVersions(offered, NEWEST_API) <= 0) return `/v${offered}`;
    const versions = { method: "GET", path: "/version", limitMs: NEGOTIATE_MS } as const;
    return this.#bounded(versions, async (signal) => {
      const { body } = await this.#send("", versions, signal);
      const json = parse(await readText(body));
      const least = typeof json === "object" && json !== null && "MinAPIVersion" in json ? json.MinAPIVersion : null;
      return typeof least === "string" && compareVersions(least, NEWEST_API) > 0 ? `/v${least}` : `/v${NEWEST_API}`;
    });
  }

  /** `work` within its limit, even where it does not heed its signal (a connection that never stands). */
  #bounded<T>(call: DockerCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { limitMs, signal } = call;
    const what = `${call.method} ${call.path}`;
    return new Promise((resolve, reject) => {
      const inner = new AbortController();
      const end = (error: DockerError): void => {
        reject(error);
        inner.abort();
      };
      const aborted = (): void => end(new DockerError(`${what} was given up`, null));
      const late = (): void =>
        end(
          new DockerError(
            `the Docker engine at ${this.address.host} did not answer ${what} within ${limitMs / 1000} s`,
            null,
          ),
        );
      if (signal?.aborted === true) return aborted();
      signal?.addEventListener("abort", aborted, { once: true });
      const timer = this.clock.at(this.clock.nowMs() + limitMs, late);
      work(inner.signal)
        .then(resolve, (error: unknown) => reject(this.#inWords(error)))
        .finally(() => {
          timer.cancel();
          signal?.removeEventListener("abort", aborted);
        });
    });
  }

  #inWords(error: unknown): DockerError {
    if (error instanceof DockerError) return error;
    this.#version = null;
    const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "no connection";
    const mend = code === "EACCES" ? "; the router's user needs to be in its group" : "";
    const words = error instanceof Error && code === "no connection" ? error.message : code;
    return new DockerError(
      `the Docker engine at ${this.address.host} cannot be reached (${words})${mend}`,
      null,
      error,
    );
  }
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES) throw new DockerError("the Docker engine's answer is over 4 MiB", null);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function refusal(status: number, json: unknown, { method, path }: DockerCall): DockerError {
  const said = typeof json === "object" && json !== null && "message" in json ? String(json.message).slice(0, 500) : "";
  return new DockerError(said === "" ? `the Docker engine answered ${status} to ${method} ${path}` : said, status);
}

export function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split(".").map(Number);
  const [majorB = 0, minorB = 0] = b.split(".").map(Number);
  return majorA - majorB || minorA - minorB;
}
