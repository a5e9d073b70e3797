// A batch through the shipped command, sockets and all, and the webhook that tells of its end, read by OpenAI's client.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI, { toFile } from "openai";
import { afterAll, expect, it } from "vitest";
import { eventually, serve, tempFolder } from "./process.ts";

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const backend = {
  driver: "mock",
  loadSeconds: 0.05,
  unloadSeconds: 0.01,
  firstTokenSeconds: 0.001,
  tokensPerSecond: 5000,
};

interface Came {
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function receiver() {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      came.push({ headers: request.headers as Record<string, string>, body });
      // The first attempt fails: the event must come again.
      response.writeHead(came.length === 1 ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => void server.close());
  return { came, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` };
}

it("a batch is done, its end is told until it is heard, and its files are read", async () => {
  const { came, url } = await receiver();
  const models = { chat: { concurrency: 8, backend }, code: { concurrency: 8, backend } };
  const webhooks = [{ url, secret: SECRET, events: ["batch.*"], allowPrivate: true }];
  const router = await serve({ config: { models, webhooks }, folder: tempFolder() });
  const client = new OpenAI({ baseURL: `${router.origin}/v1`, apiKey: "none", webhookSecret: SECRET });
  const lines = Array.from({ length: 200 }, (_, n) => {
    const body = { model: n % 2 === 0 ? "chat" : "code", messages: [{ role: "user", content: `${n}` }], max_tokens: 4 };
    return JSON.stringify({ custom_id: `r${n}`, method: "POST", url: "/v1/chat/completions", body });
  });

  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join("\n")), "in.jsonl"),
    purpose: "batch",
  });
  const made = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  } as const);
  await eventually(() => expect(came.length).toBeGreaterThanOrEqual(2), 60_000);

  const events = await Promise.all(came.map(({ headers, body }) => client.webhooks.unwrap(body, headers)));
  for (const event of events) expect(event).toMatchObject({ type: "batch.completed", data: { id: made.id } });
  expect(new Set(came.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  const batch = await client.batches.retrieve(made.id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 200, completed: 200, failed: 0 } });
  const text = await (await client.files.content(batch.output_file_id ?? "")).text();
  expect(text.trimEnd().split("\n")).toHaveLength(200);
  expect(router.stderr).not.toContain("whsec_");
});
