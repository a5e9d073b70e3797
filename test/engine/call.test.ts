import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobId, ModelName } from "../../src/domain/ids.ts";
import type { Job } from "../../src/domain/job.ts";
import type { ModelSpec } from "../../src/domain/model.ts";
import { callOf } from "../../src/engine/call.ts";
import type { Body } from "../../src/store/store.ts";

const job = {
  id: `job_${"0".repeat(16)}0123456789abcdee` as JobId,
  epoch: 0,
  endpoint: "/v1/chat/completions",
  stream: false,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  clientRequestId: null,
} as Job;
const spec = (upstreamName: string | null): ModelSpec => ({ name: "chat" as ModelName, upstreamName }) as ModelSpec;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const bodyOf = (text: string, span: readonly [number, number] | null): Body => ({
  contentType: "application/json",
  sizeBytes: bytes(text).byteLength,
  sha256: new Uint8Array(32),
  headers: { accept: "*/*" },
  modelSpan: span,
  source: { kind: "file", uri: "file:spool/x" },
});
const cutAt = (text: string, cuts: readonly number[]): (() => AsyncIterable<Uint8Array>) =>
  async function* () {
    const all = bytes(text);
    const ends = [...new Set(cuts.map((cut) => cut % (all.byteLength + 1)))].sort((a, b) => a - b);
    let at = 0;
    for (const end of [...ends, all.byteLength]) {
      yield all.subarray(at, end);
      at = end;
    }
  };
const text = '{ "top_k":1.0, "model" : "chat", "n":9007199254740993 }';
const START = text.indexOf('chat"');

async function read(body: Body, upstream: string | null, open: () => AsyncIterable<Uint8Array>): Promise<string> {
  const call = callOf(job, body, spec(upstream), { openBody: open });
  const chunks: Uint8Array[] = [];
  for await (const chunk of call.body()) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  expect(all.byteLength).toBe(call.sizeBytes);
  return all.toString();
}

describe("what goes to the engine", () => {
  it("is the caller's bytes, whatever the cuts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(80)), async (cuts) => {
        expect(await read(bodyOf(text, [START, START + 4]), null, cutAt(text, cuts))).toBe(text);
      }),
    );
  });

  it("has only the model's name replaced where the configuration says so, whatever the cuts", async () => {
    const expected = text.replace('"chat"', '"Qwen/Qwen3-8B"');

    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(80)), async (cuts) => {
        expect(await read(bodyOf(text, [START, START + 4]), "Qwen/Qwen3-8B", cutAt(text, cuts))).toBe(expected);
      }),
    );
  });

  it("carries a new parent under the caller's trace", () => {
    const { headers } = callOf(job, bodyOf(text, null), spec(null), { openBody: cutAt(text, []) });

    expect(headers["traceparent"]).toBe("00-0af7651916cd43dd8448eb211c80319c-0123456789abcdef-01");
    const again = callOf({ ...job, epoch: 2 }, bodyOf(text, null), spec(null), { openBody: cutAt(text, []) });
    expect(again.headers["traceparent"]).toBe("00-0af7651916cd43dd8448eb211c80319c-0123456789abcded-01");
  });
});
