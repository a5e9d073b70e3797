// Asking a running router, from a command: where it is, with which key, what it said, and how a command ends when it
// could not be asked.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ErrorBody } from "../client/wire.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { spanSeconds } from "./instant.ts";

export const DEFAULT_URL = "http://127.0.0.1:8000";
const TIMEOUT_MS = 30_000;

export const ROUTER_ARGS = {
  url: {
    type: "string",
    valueHint: "ORIGIN",
    description: `Where the router is; default SIR_URL, else ${DEFAULT_URL}.`,
  },
  keyFile: { type: "string", valueHint: "FILE", description: "A file that holds the key; default SIR_API_KEY." },
  timeout: { type: "string", valueHint: "T", description: "Give up after this long, with status 7: 20, 90s, 1h30m." },
} as const;

/** The router could not be asked, or refused; carries how the command should end. */
export class RouterError extends Error {
  readonly exit: ExitCode;
  readonly body: ErrorBody["error"] | { readonly code: string; readonly message: string };

  constructor(message: string, exit: ExitCode, body: RouterError["body"] | string = "unreachable") {
    super(message);
    this.name = "RouterError";
    this.exit = exit;
    this.body = typeof body === "string" ? { code: body, message } : body;
  }
}

export interface RouterClient {
  readonly url: string;
  /** `Authorization` where there is a key. */
  readonly headers: Readonly<Record<string, string>>;
  /** From `--timeout`; null: none was given. */
  readonly timeoutMs: number | null;
  /** The answer's JSON. @throws {RouterError} */
  ask(method: "GET" | "POST" | "DELETE", path: string, json?: object): Promise<unknown>;
  /** The answer as it comes, for streams; only its head is waited for. @throws {RouterError} */
  open(path: string, init: RequestInit): Promise<Response>;
}

type Args = Readonly<Record<string, unknown>>;

/** @throws {UsageError} when the key's file or the timeout cannot be read */
export function routerClient(args: Args, io: Io): RouterClient {
  const url = originOf(args["url"], io);
  const key = keyOf(args["keyFile"], io);
  const timeoutMs = typeof args["timeout"] === "string" ? spanSeconds(args["timeout"], "timeout") * 1_000 : null;
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const fetched = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      const response = await io.fetch(url + path, { ...init, headers: { ...headers, ...init.headers } });
      const zone = response.headers.get("sir-time-zone");
      if (zone !== null) io.zone.learn(zone);
      return response;
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw notThere(url, error);
    }
  };
  return {
    url,
    headers,
    timeoutMs,
    async ask(method, path, json) {
      const sent =
        json === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(json) };
      const signal = AbortSignal.timeout(timeoutMs ?? TIMEOUT_MS);
      try {
        const response = await fetched(path, { method, ...sent, signal });
        const body: unknown = await response.json().catch(() => null);
        signal.throwIfAborted();
        if (response.ok) return body;
        throw refusal(response.status, body);
      } catch (error) {
        if (error instanceof RouterError || !signal.aborted) throw error;
        throw late(url, timeoutMs);
      }
    },
    async open(path, init) {
      const response = await fetched(path, init);
      if (response.ok) return response;
      throw refusal(response.status, await response.json().catch(() => null));
    },
  };
}

/** The router's origin as it was given, or as the environment has it. */
export function originOf(given: unknown, io: Io): string {
  const text = typeof given === "string" && given !== "" ? given : io.environment["SIR_URL"] || DEFAULT_URL;
  const url = text.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`"${text}" is no address. Write it as ${DEFAULT_URL}.`);
}

/** Never an argument: whoever may list processes would read it. */
export function keyOf(file: unknown, io: Io): string | null {
  if (typeof file !== "string") return io.environment["SIR_API_KEY"]?.trim() || null;
  let key: string;
  try {
    key = readFileSync(resolve(io.cwd, file), "utf8").trim();
  } catch (error) {
    throw new UsageError(`--key-file ${file} cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(`--key-file ${file} must hold one key and nothing else.`);
}

export function notThere(url: string, error: unknown): RouterError {
  const why = error instanceof Error && error.cause instanceof Error ? causeText(error.cause) : String(error);
  return new RouterError(
    `No router answers at ${url}: ${why}. Start one, or name another with --url.`,
    EXIT.unreachable,
  );
}

/** Two addresses tried give an error without a message of its own. */
function causeText(cause: Error): string {
  const all = cause instanceof AggregateError ? cause.errors.map((each) => (each as Error).message) : [cause.message];
  return all.join(", ");
}

function late(url: string, timeoutMs: number | null): RouterError {
  if (timeoutMs !== null) {
    return new RouterError(`No answer from ${url} in ${timeoutMs / 1_000} s.`, EXIT.timeout, "timeout");
  }
  return new RouterError(`${url} did not answer in ${TIMEOUT_MS / 1_000} s.`, EXIT.unreachable);
}

export function refusal(status: number, body: unknown): RouterError {
  const error = typeof body === "object" && body !== null && "error" in body ? (body as ErrorBody).error : null;
  const exit = status === 404 ? EXIT.missing : status === 401 || status === 403 ? EXIT.denied : EXIT.failed;
  const hint = status === 401 ? " Give a key with SIR_API_KEY or --key-file." : "";
  const message = `${error?.message ?? `The router answered ${status}.`}${hint}`;
  return new RouterError(message, exit, error ?? `http_${status}`);
}

/** Runs `work`; a router that is not there or refuses ends the command in words, or as the API's error object. */
export async function withRouter(io: Io, json: boolean, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    const { message, body, exit } = error;
    io.err(json ? JSON.stringify({ error: body }) : `sir: ${message}`);
    return exit;
  }
}
