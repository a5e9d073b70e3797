// Asking a running router, from a command: where it is, what it said, and how a command ends when it could not.

import type { ErrorBody } from "../client/wire.ts";
import type { Io } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

export const DEFAULT_URL = "http://127.0.0.1:8000";
const TIMEOUT_MS = 30_000;

export const ROUTER_ARGS = {
  url: { type: "string", description: `The router's origin; default SIR_URL, else ${DEFAULT_URL}.` },
} as const;

/** The router could not be asked, or refused; carries how the command should end. */
export class RouterError extends Error {
  readonly exit: ExitCode;
  readonly body: ErrorBody["error"] | null;

  constructor(message: string, exit: ExitCode, body: ErrorBody["error"] | null = null) {
    super(message);
    this.name = "RouterError";
    this.exit = exit;
    this.body = body;
  }
}

export interface RouterClient {
  readonly url: string;
  /** The answer's JSON. @throws {RouterError} */
  ask(method: "GET" | "POST" | "DELETE", path: string, json?: object): Promise<unknown>;
}

export function routerClient(given: unknown, io: Io): RouterClient {
  const text = typeof given === "string" && given !== "" ? given : io.environment["SIR_URL"] || DEFAULT_URL;
  const url = text.replace(/\/+$/, "").replace(/\/v1$/, "");
  return {
    url,
    async ask(method, path, json) {
      const sent =
        json === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(json) };
      let response: Response;
      try {
        response = await fetch(url + path, { method, ...sent, signal: AbortSignal.timeout(TIMEOUT_MS) });
      } catch (error) {
        const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
        throw new RouterError(
          `No router answers at ${url}: ${why}. Start one, or name another with --url.`,
          EXIT.unreachable,
        );
      }
      const body: unknown = await response.json().catch(() => null);
      if (response.ok) return body;
      throw refusal(response.status, body);
    },
  };
}

function refusal(status: number, body: unknown): RouterError {
  const error = typeof body === "object" && body !== null && "error" in body ? (body as ErrorBody).error : null;
  const exit = status === 404 ? EXIT.missing : status === 401 || status === 403 ? EXIT.denied : EXIT.failed;
  return new RouterError(error?.message ?? `The router answered ${status}.`, exit, error);
}

/** Runs `work`; a router that is not there or refuses ends the command in words, or as the API's error object. */
export async function withRouter(io: Io, json: boolean, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    const { message, body, exit } = error;
    io.err(json ? JSON.stringify({ error: body ?? { code: "unreachable", message } }) : `sir: ${message}`);
    return exit;
  }
}
