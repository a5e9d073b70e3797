import { readdirSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { describe, expect, it } from "vitest";
import { type GivenOptions, given } from "./given.ts";
import { clientOf } from "./openai-client.ts";

async function scene(options: GivenOptions = {}) {
  const world = await given(options);
  const spooled = () => readdirSync(join(world.directory, "spool"));
  return { world, client: clientOf(world), spooled };
}

const LINES = '{"a":1}\n{"b":"ü"}\n';
const lines = (text = LINES, name = "in.jsonl") => toFile(Buffer.from(text), name);

describe("a file uploaded by the official client", () => {
  it("comes back byte for byte, is listed, and is gone when it is deleted", async () => {
    const { world, client, spooled } = await scene();

    const file = await client.files.create({ file: await lines(), purpose: "batch" });
    expect(file).toMatchObject({
      object: "file",
      purpose: "batch",
      filename: "in.jsonl",
      bytes: Buffer.byteLength(LINES),
    });
    expect(file.id).toMatch(/^file-[0-9a-f]{32}$/);
    expect(await (await client.files.content(file.id)).text()).toBe(LINES);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect((await client.files.list()).data).toEqual([file]);
    expect(spooled()).toHaveLength(1);
    const head = await world.app.request(`/v1/files/${file.id}/content`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(file.bytes)]);

    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.files.content(file.id)).rejects.toMatchObject({ status: 404, code: "file_not_found" });
    expect((await client.files.list()).data).toEqual([]);
  });

  it("is found by the client's own pages, each once, newest first", async () => {
    const { client } = await scene();
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.unshift((await client.files.create({ file: await lines(), purpose: "batch" })).id);

    const seen: string[] = [];
    for await (const file of client.files.list({ limit: 3 })) seen.push(file.id);

    expect(seen).toEqual(made);
    expect((await client.files.list({ limit: 3, order: "asc" })).data.map(({ id }) => id)).toEqual(
      made.slice(4).reverse(),
    );
    expect((await client.files.list({ purpose: "vision" })).data).toEqual([]);
  });

  it("expires when its caller said so, and its bytes with it", async () => {
    const { world, client } = await scene();
    const expires_after = { anchor: "created_at", seconds: 3_600 } as const;
    const file = await client.files.create({ file: await lines(), purpose: "batch", expires_after });
    expect(file.expires_at).toBe(file.created_at + 3_600);

    await world.clock.runUntil(world.clock.nowMs() + 3_599_000);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    await world.clock.runUntil(world.clock.nowMs() + 10_000);

    await expect(client.files.retrieve(file.id)).rejects.toThrow(OpenAI.NotFoundError);
    expect((await world.store.usage()).storedBytes).toBe(0);
  });

  it("of purpose batch goes after thirty days, of another purpose not by itself", async () => {
    const { client } = await scene();
    const batch = await client.files.create({ file: await lines(), purpose: "batch" });
    const vision = await client.files.create({ file: await lines("x", "x.png"), purpose: "vision" });

    expect(batch.expires_at).toBe(batch.created_at + 30 * 86_400);
    expect(vision.expires_at).toBeNull();
  });
});

describe("an upload that cannot be taken leaves nothing behind", () => {
  it.each([
    ["too large a file", { file: "x".repeat(2_000), purpose: "batch" }, 413, "body_too_large"],
    ["an unknown purpose", { file: "x", purpose: "fun" }, 400, "invalid_body"],
    ["no file", { purpose: "batch" }, 400, "invalid_body"],
    [
      "an expiry too short",
      { file: "x", purpose: "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "60" },
      400,
      "invalid_body",
    ],
  ])("%s", async (_what, fields: Record<string, string>, status, code) => {
    const { world, spooled } = await scene({ maxFileBytes: 1_500 });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (name === "file") form.append(name, new Blob([value]), "in.jsonl");
      else form.append(name, value);
    }

    const response = await world.app.request("/v1/files", { method: "POST", body: form });

    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe(code);
    expect(spooled()).toEqual([]);
    expect((await world.store.usage()).storedBytes).toBe(0);
  });

  it("when the space for stored bytes is used up", async () => {
    const { client, spooled } = await scene({ maxStoredBytes: 30 });
    await client.files.create({ file: await lines(), purpose: "batch" });

    await expect(client.files.create({ file: await lines(), purpose: "batch" })).rejects.toMatchObject({
      status: 503,
      code: "storage_full",
    });
    expect(spooled()).toHaveLength(1);
  });
});

it("gives a file that is somebody else's the same answer as one that never was", async () => {
  const { world, client } = await scene();
  const file = await client.files.create({ file: await lines(), purpose: "batch" });
  world.database.prepare("UPDATE files SET caller = 'somebody'").run();

  const foreign = await client.files.retrieve(file.id).catch((error: unknown) => error);
  const unknown = await client.files.retrieve(`file-${"0".repeat(32)}`).catch((error: unknown) => error);

  expect(foreign).toMatchObject({ status: 404, error: (unknown as { error: unknown }).error });
  await expect(client.files.delete(file.id)).rejects.toThrow(OpenAI.NotFoundError);
  await expect(client.files.content(file.id)).rejects.toThrow(OpenAI.NotFoundError);
  expect((await client.files.list()).data).toEqual([]);
});
