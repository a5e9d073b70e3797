// Ports for engines: never the same twice at once, never one that somebody else would answer on.

import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { holdFreePort, holdPort, holdUsedPort } from "../../src/backends/free-port.ts";

const HOST = "127.0.0.1";

it("a hundred free ports at once are a hundred different ones", async () => {
  const held = await Promise.all(Array.from({ length: 100 }, () => holdFreePort(HOST)));

  const ports = new Set(held.map(({ port }) => port));

  expect(ports.size).toBe(100);
  for (const each of held) each.release();
});

it("a port is held until it is released, and once only", async () => {
  const first = await holdFreePort(HOST);

  await expect(holdPort(HOST, first.port)).rejects.toThrow(`port ${first.port} of ${HOST} is used by another engine`);
  first.release();
  const second = await holdPort(HOST, first.port);
  first.release();
  await expect(holdPort(HOST, first.port)).rejects.toThrow("is used by another engine");
  second.release();
});

it("a port on which somebody listens is refused, and not held after that", async () => {
  const stranger = createServer().listen(0, HOST);
  await new Promise((resolve) => stranger.once("listening", resolve));
  onTestFinished(() => void stranger.close());
  const { port } = stranger.address() as { port: number };

  await expect(holdPort(HOST, port)).rejects.toThrow("another program listens on it");
  const found = holdUsedPort(HOST, port);
  await expect(holdPort(HOST, port)).rejects.toThrow("is used by another engine");
  found.release();
});

it("an address that this machine does not have is said to be that", async () => {
  await expect(holdFreePort("203.0.113.7")).rejects.toThrow("this machine has no such address");
});
