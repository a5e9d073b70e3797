// When an answer counts as delivered: not before its caller's socket has taken all of it.

import { createServer } from "node:http";
import { type AddressInfo, createConnection } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Call, onDelivered } from "../../src/http/deps.ts";

const ANSWER = Buffer.alloc(64 * 1024 * 1024);

async function delivered(
  caller: "reads" | "resets" | "leaves",
  headers: Record<string, string> = {},
): Promise<boolean> {
  let isDelivered = false;
  let tell: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const server = createServer((incoming, outgoing) => {
    onDelivered({ env: { incoming, outgoing } } as unknown as Call, () => {
      isDelivered = true;
    });
    outgoing.once("close", tell);
    outgoing.writeHead(200, headers).end(ANSWER);
    if (caller === "resets") socket.resetAndDestroy();
    if (caller === "leaves") socket.destroy();
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  const socket = createConnection((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  socket.on("error", () => undefined);
  if (caller === "reads") socket.resume();
  socket.write("GET / HTTP/1.1\r\nhost: sir\r\n\r\n");
  await over;
  return isDelivered;
}

it.each([{}, { connection: "close" }])("is delivered to a caller who reads it: %o", async (headers) => {
  expect(await delivered("reads", headers)).toBe(true);
});

it.each(["resets", "leaves"] as const)("is not delivered to a caller who %s in the middle", async (caller) => {
  expect(await delivered(caller)).toBe(false);
});

it("is delivered at once where there is no socket", () => {
  let isDelivered = false;

  onDelivered({} as Call, () => {
    isDelivered = true;
  });

  expect(isDelivered).toBe(true);
});
