// Specs, calls and sinks for the tests of backends.

import type { Call, Head, Instance, Sink } from "../../src/backends/backend.ts";
import type { DeviceId, InstanceId, ModelName } from "../../src/domain/ids.ts";
import type { ModelSpec } from "../../src/domain/model.ts";

export const GPU = "gpu0" as DeviceId;

export function specOf(name = "chat-model", memoryGiB: number | null = null): ModelSpec {
  return {
    name: name as ModelName,
    label: name,
    aliases: [],
    upstreamName: null,
    priority: 1,
    concurrency: 8,
    memoryGiB,
    loadMs: 2000,
    usesDevice: true,
    devices: [GPU],
    pinned: false,
    preload: false,
    unloadAfterMs: null,
    maxLoadFailures: 5,
    loadTimeoutMs: 900_000,
    firstLoadTimeoutMs: 7_200_000,
    firstByteTimeoutMs: 1_800_000,
    idleTimeoutMs: 300_000,
    runTimeoutMs: 14_400_000,
    stallMs: 300_000,
  };
}

export function placementOf(model: string, id = `ins_${model}`): Omit<Instance, "endpoint" | "epoch"> {
  return { instance: id as InstanceId, model: model as ModelName, device: GPU };
}

export function instanceOf(model: string, endpoint = "", id = `ins_${model}`): Instance {
  return { ...placementOf(model, id), endpoint, epoch: 1 };
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

export function callOf(endpoint: string, body: unknown, over: Partial<Call> = {}): Call {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return {
    endpoint,
    contentType: "application/json",
    headers: {},
    sizeBytes: bytes.byteLength,
    body: () => inPieces(bytes, 65_536),
    stream: typeof body === "object" && body !== null && "stream" in body && body.stream === true,
    firstByteTimeoutMs: 1_800_000,
    idleTimeoutMs: 300_000,
    runTimeoutMs: 14_400_000,
    ...over,
  };
}

export function chatBody(over: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: "chat-model", messages: [{ role: "user", content: "hello" }], ...over };
}

/** Keeps what it is given, and when. */
export class Taken implements Sink {
  readonly heads: Head[] = [];
  readonly chunks: Uint8Array[] = [];
  readonly atMs: number[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => 0) {
    this.#nowMs = nowMs;
  }

  head(head: Head): void {
    this.heads.push(head);
  }

  chunk(bytes: Uint8Array): Promise<void> | void {
    this.chunks.push(Uint8Array.from(bytes));
    this.atMs.push(this.#nowMs());
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.bytes.toString("utf8");
  }

  get json(): Record<string, unknown> {
    return JSON.parse(this.text);
  }
}

/** The values of a stream's `data:` lines, without `[DONE]`. */
export function events(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice(6)));
}
