// Bodies: what is refused with which code, large ones, forms with a file before the model.

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { SirError } from "../../src/domain/errors.ts";
import type { Body } from "../../src/store/store.ts";
import { callOf, errorOf, type Given, given, prepared } from "./given.ts";

const MB = 1024 * 1024;

async function refusal(body: string, headers: Record<string, string> = {}): Promise<SirError> {
  const world = await given();
  const error = await errorOf(prepared(world, body, { headers }));
  expect(world.sql("SELECT * FROM jobs")).toEqual([]);
  expect(await world.files()).toEqual([]);
  return error;
}

test.each([
  ["an empty body", "", "invalid_json", 400, "empty"],
  ["malformed JSON", '{"model":"alpha",}', "invalid_json", 400, "byte 17"],
  ["half a document", '{"model":"alpha"', "invalid_json", 400, "got the end of the body"],
  ["text after the document", '{"model":"alpha"} x', "invalid_json", 400, "byte 18"],
  ["a byte order mark", '\ufeff{"model":"alpha"}', "invalid_json", 400, "byte 0"],
  ["an array", "[]", "invalid_body", 400, "got an array"],
  ["a string", '"alpha"', "invalid_body", 400, "got a string"],
  ["a number", "12", "invalid_body", 400, "got a number"],
  ["null", "null", "invalid_json", 400, "byte 0"],
  ["no model", '{"messages":[]}', "missing_model", 400, '"model"'],
  ["a model only in nested objects", '{"messages":[{"model":"alpha"}]}', "missing_model", 400, '"model"'],
  ["an empty model", '{"model":""}', "missing_model", 400, "empty"],
  ["a number for a model", '{"model":123}', "invalid_body", 400, '"model" must be a string, got number'],
  ["null for a model", '{"model":null}', "invalid_body", 400, "got null"],
  ["an object for a model", '{"model":{"model":"alpha"}}', "invalid_body", 400, "got object"],
  ["an endless model", `{"model":"${"a".repeat(5000)}"}`, "invalid_body", 400, "too long"],
  ["a string for stream", '{"model":"alpha","stream":"true"}', "invalid_body", 400, '"stream" must be a boolean'],
  ["a number for background", '{"model":"alpha","background":1}', "invalid_body", 400, '"background" must be'],
  ["an unknown model", '{"model":"gamma"}', "model_not_found", 404, "Known models: alpha, beta"],
  ["600 levels of nesting", `{"a":${"[".repeat(600)}`, "invalid_json", 400, "deeper than 512"],
])("%s is refused with a clear error, and nothing is stored", async (_what, body, code, status, words) => {
  const error = await refusal(body);
  expect([error.code, error.kind.status]).toEqual([code, status]);
  expect(error.message).toContain(words);
});

test.each([
  ["text/plain", "unsupported_media_type", 415],
  ["application/x-www-form-urlencoded", "unsupported_media_type", 415],
  ["multipart/form-data", "invalid_header", 400],
  ["multipart/form-data; boundary=b", "invalid_body", 400],
])("A JSON body sent as %s is %s", async (contentType, code, status) => {
  const error = await refusal('{"model":"alpha"}', { "content-type": contentType });
  expect([error.code, error.kind.status]).toEqual([code, status]);
});

test("An error message holds nothing of the body but its place", async () => {
  const error = await refusal('{"model":"alpha","messages":"my secret prompt" oops}');
  expect(error.message).not.toMatch(/secret|oops/);
  expect(error.message).toContain("byte 47");
});

test("A body announced as too large is refused before it is read; one that grows too large while it is read", async () => {
  const world = await given({ settings: { bodyLimitBytes: MB } });
  let reads = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"model":"alpha","messages":"');
    for (;;) {
      reads++;
      yield Buffer.alloc(64 * 1024, "x");
    }
  }

  const announced = await errorOf(
    world.intake.prepare(callOf(endless(), { headers: { "content-length": "1048577" } })),
  );
  expect([announced.code, announced.kind.status, reads]).toEqual(["body_too_large", 413, 0]);

  const grown = await errorOf(world.intake.prepare(callOf(endless())));
  expect([grown.code, reads]).toEqual(["body_too_large", 16]);
  expect(await world.files()).toEqual([]);
});

test.each([
  ["just under", MB - 1, "bytes"],
  ["exactly", MB, "bytes"],
  ["just over", MB + 1, "file"],
])("A body of %s 1 MiB lies in memory or in a file, and is the same bytes", async (_what, sizeBytes, kind) => {
  const world = await given();
  const text = JSON.stringify({ model: "alpha", messages: "" });
  const body = Buffer.from(text.replace('""', `"${"y".repeat(sizeBytes - text.length)}"`));

  const accepted = await world.intake.accept(await prepared(world, body), "async");

  const stored = await world.store.body(accepted.job.id);
  expect(stored?.source.kind).toBe(kind);
  expect(stored?.sizeBytes).toBe(sizeBytes);
  const digest = createHash("sha256").update(body).digest();
  expect(Buffer.compare(stored?.sha256 ?? Buffer.alloc(0), digest)).toBe(0);
  expect(Buffer.compare(await bytesOf(world, stored), digest)).toBe(0);
});

test.each([
  ["ENOSPC", "storage_full"],
  ["EROFS", "store_unavailable"],
])("A disk that says %s is 503 %s for a large body, and a small one is taken all the same", async (errno, code) => {
  const refuse = (): Promise<never> => Promise.reject(Object.assign(new Error(`${errno}: no`), { code: errno }));
  const world = await given({ files: (files) => ({ ...files, create: refuse }) });

  const error = await errorOf(prepared(world, `{"model":"alpha","messages":"${"x".repeat(2 * MB)}"}`));

  expect([error.code, error.kind.status, error.kind.retryable]).toEqual([code, 503, true]);
  expect((await prepared(world)).model.name).toBe("alpha");
});

test("A 25 MB file before the model: found, spooled as it comes, no chunk kept, every byte the same", async () => {
  const world = await given();
  const chunk = Buffer.alloc(64 * 1024);
  const hash = createHash("sha256");
  const head = '--b0und\r\nContent-Disposition: form-data; name="file"; filename="h\u00f6r zu.wav"\r\n\r\n';
  const tail = '\r\n--b0und\r\nContent-Disposition: form-data; name="model"\r\n\r\nalpha\r\n--b0und--\r\n';
  async function* upload(): AsyncGenerator<Uint8Array> {
    const send = (bytes: Uint8Array): Uint8Array => {
      hash.update(bytes);
      return bytes;
    };
    yield send(Buffer.from(head));
    // One and the same memory each time: whoever keeps a chunk has the wrong bytes in the end.
    for (let i = 0; i < 400; i++) yield send(chunk.fill(`\r\n--b0un${i}\r`));
    yield send(Buffer.from(tail));
  }
  const bytesBefore = process.memoryUsage().arrayBuffers;

  const headers = { "content-type": "multipart/form-data; boundary=b0und" };
  const call = await world.intake.prepare(callOf(upload(), { endpoint: "/v1/audio/transcriptions", headers }));
  expect(process.memoryUsage().arrayBuffers - bytesBefore).toBeLessThan(8 * MB);
  const accepted = await world.intake.accept(call, "async");

  const sizeBytes = Buffer.byteLength(head) + 400 * chunk.length + Buffer.byteLength(tail);
  const stored = await world.store.body(accepted.job.id);
  const modelAt = sizeBytes - Buffer.byteLength("alpha\r\n--b0und--\r\n");
  expect(stored).toMatchObject({
    contentType: "multipart/form-data; boundary=b0und",
    sizeBytes,
    modelSpan: [modelAt, modelAt + 5],
    source: { kind: "file" },
  });
  expect(Buffer.compare(await bytesOf(world, stored), hash.digest())).toBe(0);
  expect(await world.files()).toHaveLength(1);
});

async function bytesOf(world: Given, body: Body | null): Promise<Uint8Array> {
  const hash = createHash("sha256");
  if (body?.source.kind === "bytes") hash.update(body.source.bytes);
  else if (body !== null) for await (const piece of world.open(body.source.uri)) hash.update(piece);
  return hash.digest();
}
