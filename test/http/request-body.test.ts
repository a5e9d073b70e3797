// A request's bytes, from callers who stay and from callers who have gone.

import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createConnection } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { Call } from "../../src/http/deps.ts";
import { requestBody } from "../../src/http/request-body.ts";

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
    for await (const chunk of requestBody({ env: { incoming } } as unknown as Call)) chunks.push(chunk);
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
    for await (const chunk of requestBody({ req: { raw } } as unknown as Call)) text += Buffer.from(chunk).toString();
    return text;
  };

  expect(await read(new Request("http://sir", { method: "POST", body: SENT }))).toBe(SENT);
  expect(await read(new Request("http://sir", { method: "POST" }))).toBe("");
});
