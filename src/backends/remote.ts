// The remote driver: an OpenAI-compatible endpoint that is always on and loads its models by itself. It uses no device
// and takes no part in swaps.

import { createHash } from "node:crypto";
import type { Agent } from "undici";
import { z } from "zod";
import { sleepUntil } from "../domain/clock.ts";
import {
  type Backend,
  type Call,
  type Capabilities,
  type DriverContext,
  defineDriver,
  type Instance,
  LoadError,
  type Outcome,
  type Sink,
} from "./backend.ts";
import { httpCall, openDispatcher, type Upstream } from "./http-call.ts";

const ALIVE_MS = 5000;

/** Set by us for each call, or of no meaning end to end. */
const RESERVED = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What is wrong with a base URL, in words; null when it is good. */
function baseUrlFault(text: string): string | null {
  if (!URL.canParse(text)) return "must be a URL such as https://engine.example:8000/v1";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "") return "must hold no user name or password; use apiKey or headers";
  if (url.search !== "" || url.hash !== "") return "must have no query and no fragment";
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/v1")) return null;
  const cut = path.indexOf("/v1/");
  const mend = cut === -1 ? `${url.origin}${path}/v1` : `${url.origin}${path.slice(0, cut)}/v1`;
  return `must end in /v1, because the endpoint's rest is appended to it; did you mean ${mend}?`;
}

const baseUrl = z
  .string()
  .superRefine((text, issues) => {
    const fault = baseUrlFault(text);
    if (fault !== null) issues.addIssue({ code: "custom", message: fault });
  })
  .describe("The endpoint's address; ends in /v1. The rest of the request's path is appended.");

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "is no header name")
  .refine((name) => !RESERVED.has(name.toLowerCase()), "is set for each request and cannot be given here");

const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, "has characters that no header may have");

export const remoteOptions = z
  .strictObject({
    baseUrl,
    apiKey: z
      .string()
      .min(1)
      .regex(/^[\x21-\x7e]+$/, "must be printable characters without spaces")
      .optional()
      .describe("Sent as a bearer token. Absent: none."),
    headers: z.record(headerName, headerValue).default({}).describe("Sent with each request besides its own."),
  })
  .refine(
    ({ apiKey, headers }) =>
      apiKey === undefined || !Object.keys(headers).some((name) => name.toLowerCase() === "authorization"),
    { path: ["apiKey"], message: "is given beside an authorization header; give one of them" },
  );

type RemoteOptions = z.output<typeof remoteOptions>;

export const remote = defineDriver({
  name: "remote",
  options: remoteOptions,
  usesDevice: false,
  // A digest, because options hold secrets and keys get printed.
  shareKey: (_model, options: RemoteOptions) => createHash("sha256").update(JSON.stringify(options)).digest("hex"),
  create(members, context) {
    const [member] = members;
    if (member === undefined) throw new Error("a remote backend needs a model");
    return new RemoteBackend(member.options, context);
  },
});

class RemoteBackend implements Backend {
  readonly can: Capabilities = { loads: false, knowsMemory: false };
  readonly #origin: string;
  /** Ends in `/v1`. */
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #context: DriverContext;
  readonly #dispatcher: Agent = openDispatcher();

  constructor(options: RemoteOptions, context: DriverContext) {
    const url = new URL(options.baseUrl);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, "");
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers)) headers[name.toLowerCase()] = value;
    if (options.apiKey !== undefined) headers["authorization"] = `Bearer ${options.apiKey}`;
    this.#headers = headers;
    this.#context = context;
  }

  async start(): Promise<never> {
    throw new LoadError("a remote model is always on; it cannot be loaded");
  }

  async stop(): Promise<never> {
    throw new LoadError("a remote model is always on; it cannot be unloaded");
  }

  run(_instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const using = { clock: this.#context.clock, dispatcher: this.#dispatcher };
    return httpCall(this.#upstream(call.endpoint), call, sink, signal, using);
  }

  /** Whatever answers `GET /models` below 500 is alive, a refusal of our key included: a request will say so better. */
  async alive(_instance: Instance, signal: AbortSignal): Promise<boolean> {
    const done = new AbortController();
    const { clock } = this.#context;
    const limit = AbortSignal.any([signal, done.signal]);
    const request = this.#dispatcher.request({
      ...this.#upstream("/v1/models"),
      method: "GET",
      signal: limit,
    });
    const answered = request.then(
      async ({ statusCode, body }) => {
        await body.dump({ limit: 65_536 }).catch(() => {});
        return statusCode < 500;
      },
      () => false,
    );
    const late = sleepUntil(clock, clock.nowMs() + ALIVE_MS, limit).then(() => false);
    try {
      return await Promise.race([answered, late]);
    } finally {
      done.abort();
    }
  }

  /** Its instances are not ours to know. */
  async inspect(): Promise<readonly Instance[]> {
    return [];
  }

  async logs(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** `/v1/x` lies under the base; what engines serve beside `/v1` (`/tokenize`, `/rerank`) lies beside it there too. */
  #upstream(endpoint: string): Upstream {
    const path = endpoint.startsWith("/v1/")
      ? this.#basePath + endpoint.slice(3)
      : this.#basePath.slice(0, -3) + endpoint;
    return { origin: this.#origin, path, headers: this.#headers };
  }
}
