// One address that may be an engine: what it answers to a few GETs, each asked once however many probes want it. Nothing
// is sent that could make a server load, start or stop something.

import { PROBE_MS } from "./surroundings.ts";

/** Enough for a list of some ten thousand models. */
const ANSWER_BYTES = 4 * 1024 * 1024;

export interface Reply {
  /** 0: it did not answer in time, or not in HTTP. */
  readonly status: number;
  /** Undefined: what came is no JSON. */
  readonly json: unknown;
  readonly server: string;
}

export class Site {
  readonly origin: string;
  readonly #asked = new Map<string, Promise<Reply | null>>();

  constructor(origin: string) {
    this.origin = origin;
  }

  get port(): number {
    const { port, protocol } = new URL(this.origin);
    return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  }

  /** Null: nobody listens. */
  get(path: string): Promise<Reply | null> {
    const before = this.#asked.get(path);
    if (before !== undefined) return before;
    const asked = this.#ask(path, {});
    this.#asked.set(path, asked);
    return asked;
  }

  /** The JSON of a good answer; undefined for every other. */
  async json(path: string): Promise<unknown> {
    const reply = await this.get(path);
    return reply !== null && reply.status === 200 ? reply.json : undefined;
  }

  /** A question with a body; only for those that merely describe. */
  async described(path: string, body: object): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    const reply = await this.#ask(path, { method: "POST", headers, body: JSON.stringify(body) });
    return reply !== null && reply.status === 200 ? reply.json : undefined;
  }

  async #ask(path: string, init: RequestInit): Promise<Reply | null> {
    try {
      const signal = AbortSignal.timeout(PROBE_MS);
      const answer = await fetch(`${this.origin}${path}`, { ...init, redirect: "manual", signal });
      const server = answer.headers.get("server") ?? "";
      return { status: answer.status, json: parsed(await textOf(answer)), server };
    } catch (error) {
      return isNobody(error) ? null : { status: 0, json: undefined, server: "" };
    }
  }
}

async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES) return "";
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NOBODY = ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL"];

function isNobody(error: unknown): boolean {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if ("code" in each && NOBODY.includes(String(each.code))) return true;
    if (each instanceof AggregateError) return each.errors.every(isNobody);
  }
  return false;
}
