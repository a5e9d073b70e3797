// Asking a running router, from a command: where it is, with which key, what it said, and how a command ends when it
// could not be asked.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ErrorBody } from "../client/wire.ts";
import { DEFAULT_URL, routerAddress } from "./address.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { spanSeconds } from "./instant.ts";
import { isRouters, strangerAt } from "./stranger.ts";

const TIMEOUT_MS = 30_000;

export const ROUTER_ARGS = {
  url: {
    type: "string",
    valueHint: "ORIGIN",
    description: `Where the router is; default SIR_URL, else as sir.config.ts of this folder says, else ${DEFAULT_URL}.`,
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
  /** Before anything is sent that is not for strangers. @throws {RouterError} when it is no router that answers */
  confirm(): Promise<void>;
}

/** The code of an address where something else answers. */
export const NOT_A_ROUTER = "not_a_router";

type Args = Readonly<Record<string, unknown>>;

/** @throws {UsageError} when the address, the key's file or the timeout cannot be read */
export async function routerClient(args: Args, io: Io): Promise<RouterClient> {
  const key = keyOf(args["keyFile"], io);
  const timeoutMs = typeof args["timeout"] === "string" ? spanSeconds(args["timeout"], "timeout") * 1_000 : null;
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const { url, text } = await routerAddress(args, io);
  let known = false;
  const fetched = async (path: string, init: RequestInit): Promise<Response> => {
    let response: Response;
    try {
      response = await io.fetch(url + path, { ...init, headers: { ...headers, ...init.headers } });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw notThere(text, error);
    }
    const zone = response.headers.get("sir-time-zone");
    if (zone !== null) io.zone.learn(zone);
    if (known || isRouters(response)) return response;
    const stranger = await strangerAt(url, response.status, headers, io);
    if (stranger !== null) throw new RouterError(stranger, EXIT.unreachable, NOT_A_ROUTER);
    known = true;
    return response;
  };
  const inTime = async <T>(path: string, init: RequestInit, read: (response: Response) => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(timeoutMs ?? TIMEOUT_MS);
    try {
      const result = await read(await fetched(path, { ...init, signal }));
      signal.throwIfAborted();
      return result;
    } catch (error) {
      if (error instanceof RouterError || !signal.aborted) throw error;
      throw late(url, timeoutMs);
    }
  };
  return {
    url,
    headers,
    timeoutMs,
    ask(method, path, json) {
      const sent =
        json === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(json) };
      return inTime(path, { method, ...sent }, async (response) => {
        const body: unknown = await response.json().catch(() => null);
        if (response.ok) return body;
        throw refusal(response.status, body);
      });
    },
    async open(path, init) {
      const response = await fetched(path, init);
      if (response.ok) return response;
      throw refusal(response.status, await response.json().catch(() => null));
    },
    confirm: () => inTime("/v1/models", {}, async ({ body }) => body?.cancel()),
  };
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

/** @param url As it should be shown. */
export function notThere(url: string, error: unknown): RouterError {
  const why = error instanceof Error && error.cause instanceof Error ? causeText(error.cause) : String(error);
  return new RouterError(
    `No router answers at ${url}: ${why}. Start one, or name another with --url or SIR_URL.`,
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
