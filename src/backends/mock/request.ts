// Reads a request the way an engine does, within bounds: a JSON body up to 256 KiB is parsed; of a larger one, and of
// multipart, only a few fields are looked for in its head and tail, because nothing large is parsed on the main thread.

import type { Call } from "../backend.ts";
import { type Refusal, refusal } from "./plan.ts";

const PARSE_LIMIT_BYTES = 256 * 1024;
const TAIL_BYTES = 4 * 1024;
export const MAX_TOKENS_LIMIT = 1_000_000;

export type Json = Readonly<Record<string, unknown>>;

export interface MockRequest {
  /** Without `/v1`, e.g. `chat/completions`. */
  readonly endpoint: string;
  readonly model: string;
  readonly stream: boolean;
  /** Null when it was too large to parse, or multipart. */
  readonly json: Json | null;
  /** Multipart fields that were found. */
  readonly form: Readonly<Record<string, string>>;
  /** The caller's limit; null when it set none. */
  readonly maxTokens: number | null;
  /** An estimate: a quarter of the body's bytes. */
  readonly promptTokens: number;
}

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Collected {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly sizeBytes: number;
}

async function collect(call: Call): Promise<Collected> {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let sizeBytes = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of call.body()) {
    sizeBytes += chunk.byteLength;
    const room = PARSE_LIMIT_BYTES - keptBytes;
    if (room > 0) {
      const part = chunk.byteLength > room ? chunk.subarray(0, room) : chunk;
      kept.push(part);
      keptBytes += part.byteLength;
    }
    if (sizeBytes > PARSE_LIMIT_BYTES) tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
  }
  return { head: Buffer.concat(kept), tail, sizeBytes };
}

/** Drains the body in any case. */
export async function readRequest(call: Call): Promise<MockRequest | Refusal> {
  const collected = await collect(call);
  const endpoint = call.endpoint.replace(/^\/(v1\/)?/, "").replace(/\/$/, "");
  const promptTokens = Math.max(1, Math.ceil(collected.sizeBytes / 4));
  if (/^multipart\/form-data/i.test(call.contentType)) return readForm(endpoint, call, collected, promptTokens);
  if (collected.sizeBytes > PARSE_LIMIT_BYTES) return skim(endpoint, call, collected, promptTokens);
  let json: unknown;
  try {
    json = JSON.parse(collected.head.toString("utf8"));
  } catch {
    return refusal(400, "We could not parse the JSON body of your request.");
  }
  if (!isRecord(json)) return refusal(400, "The request body must be a JSON object.");
  const { model } = json;
  if (typeof model !== "string" || model === "") return refusal(400, "you must provide a model parameter", "model");
  const limit = json["max_completion_tokens"] ?? json["max_tokens"] ?? json["max_output_tokens"] ?? null;
  if (limit !== null && !(Number.isInteger(limit) && Number(limit) >= 1)) {
    return refusal(400, `max_tokens must be an integer of at least 1, got ${typeof limit}`, "max_tokens");
  }
  const maxTokens = limit === null ? null : Math.min(Number(limit), MAX_TOKENS_LIMIT);
  return { endpoint, model, stream: json["stream"] === true, json, form: {}, maxTokens, promptTokens };
}

const LIMIT_FIELD = /(?<!\\)"max_(?:completion_tokens|output_tokens|tokens)"\s*:\s*(\d{1,7})/;
const MODEL_FIELD = /(?<!\\)"model"\s*:\s*"([^"\\]{1,256})"/;

function skim(endpoint: string, call: Call, { head, tail }: Collected, promptTokens: number): MockRequest {
  const text = `${head.toString("latin1")}\n${tail.toString("latin1")}`;
  const limit = LIMIT_FIELD.exec(text)?.[1];
  return {
    endpoint,
    model: MODEL_FIELD.exec(text)?.[1] ?? "mock",
    stream: call.stream,
    json: null,
    form: {},
    maxTokens: limit === undefined ? null : Math.min(Math.max(1, Number(limit)), MAX_TOKENS_LIMIT),
    promptTokens,
  };
}

const FORM_FIELD =
  /content-disposition:[^\r\n]*;\s*name="?([\w[\]]{1,64})"?[^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n([^\r\n]{0,256})/gi;

function readForm(endpoint: string, call: Call, body: Collected, promptTokens: number): MockRequest | Refusal {
  if (!/boundary=/i.test(call.contentType)) return refusal(400, "The multipart content type names no boundary.");
  const text = `${body.head.toString("latin1")}\r\n${body.tail.toString("latin1")}`;
  const form: Record<string, string> = {};
  for (const [, name, value] of text.matchAll(FORM_FIELD)) {
    if (name !== undefined && value !== undefined) form[name] = value;
  }
  const large = body.sizeBytes > PARSE_LIMIT_BYTES;
  const model = form["model"] ?? (large ? "mock" : "");
  if (model === "") return refusal(400, "you must provide a model parameter", "model");
  return { endpoint, model, stream: form["stream"] === "true", json: null, form, maxTokens: null, promptTokens };
}
