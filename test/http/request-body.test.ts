// A request's bytes, from callers who stay and from callers who have gone.

import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createConnection } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { Call } from "../../src/http/deps.ts";
import { requestBody } from "../../src/http/request-body.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { given, MODEL, passes, post, settled } from "./given.ts";

const SENT = "x".repeat(5_000);

/** What is read of a body when reading begins only after its sender has hung up. */
async function readAfterClose(announcedBytes: number): Promise<string> {
  let tell: (text: string) => void = () => undefined;
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const server = createServer((incoming) => {
    incoming.socket.once("close", () => void textOf(incoming).then(tell));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  const socket = createConnection((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`POST / HTTP/1.1\r\nhost: sir\r\ncontent-length: ${announcedBytes}\r\n\r\n${SENT}`, () =>
    socket.destroy(),
  );
  return told;
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of requestBody({ env: { incoming } } as unknown as Call, new SystemClock()))
      chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

it("is whole when all of it had arrived before its sender hung up", async () => {
  expect(await readAfterClose(SENT.length)).toBe(SENT);
});

it("is an invalid body when the connection closed too early", async () => {
  expect(await readAfterClose(SENT.length + 1)).toBe("invalid_body");
});

it("is read from a request without a socket too, and is nothing when there is none", async () => {
  const read = async (raw: Request): Promise<string> => {
    let text = "";
    for await (const chunk of requestBody({ req: { raw } } as unknown as Call, new VirtualClock()))
      text += Buffer.from(chunk).toString();
    return text;
  };

  expect(await read(new Request("http://sir", { method: "POST", body: SENT }))).toBe(SENT);
  expect(await read(new Request("http://sir", { method: "POST" }))).toBe("");
});

/** A body whose pieces come at these instants, and whose end never comes. */
function slowBody(world: Awaited<ReturnType<typeof given>>, atMs: readonly number[]): Promise<Response> {
  const startMs = world.clock.nowMs();
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(`{"model":"${MODEL}","a":"`));
      for (const at of atMs) world.clock.at(startMs + at, () => controller.enqueue(Buffer.from("x")));
    },
  });
  const headers = { "content-type": "application/json" };
  return Promise.resolve(
    world.app.request("/v1/embeddings", { method: "POST", headers, body, duplex: "half" } as never),
  );
}

it.each([
  ["stops coming", [], 60_000],
  ["trickles", [30_000, 59_000, 61_000, 100_000], 60_100],
])("is given up when it %s, and its place is free again", async (_what, atMs, afterMs) => {
  const world = await given();
  const startMs = world.clock.nowMs();

  const response = await settled(world, slowBody(world, atMs));

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_body" } });
  expect(world.clock.nowMs() - startMs).toBeLessThanOrEqual(afterMs);
  expect((await settled(world, post(world, undefined, { headers: { prefer: "respond-async" } }))).status).toBe(202);
});

it("may come slowly, as long as it comes", async () => {
  const world = await given();
  let answered = false;
  const startMs = world.clock.nowMs();
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(`{"model":"${MODEL}","a":"`));
      for (let at = 20_000; at <= 200_000; at += 20_000) {
        world.clock.at(startMs + at, () => controller.enqueue(Buffer.alloc(30_000, "x")));
      }
      world.clock.at(startMs + 201_000, () => {
        controller.enqueue(Buffer.from('"}'));
        controller.close();
      });
    },
  });
  const headers = { "content-type": "application/json", prefer: "respond-async" };
  const response = Promise.resolve(
    world.app.request("/v1/embeddings", { method: "POST", headers, body, duplex: "half" } as never),
  ).finally(() => {
    answered = true;
  });
  await passes(world, 200_500);

  expect(answered).toBe(false);
  expect((await settled(world, response)).status).toBe(202);
});
