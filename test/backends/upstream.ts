// A real engine-shaped server on loopback whose every byte the test decides.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Backend, Call, Outcome, Sink } from "../../src/backends/backend.ts";
import { remote, remoteOptions } from "../../src/backends/remote.ts";
import type { Clock } from "../../src/domain/clock.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { instanceOf, specOf, Taken } from "./samples.ts";

export type Answerer = (request: IncomingMessage, response: ServerResponse) => unknown;

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => {
    server.close();
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function") {
      server.closeAllConnections();
    }
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** @returns Its origin. */
export function httpUpstream(answer: Answerer): Promise<string> {
  return listening(createServer((request, response) => void answer(request, response)));
}

/** What it answers is written by hand, once the request's head and body have come. */
export function rawUpstream(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return listening(server);
}

export function remoteAt(
  origin: string,
  over: Record<string, unknown> = {},
  clock: Clock = new SystemClock(),
): Backend {
  const options = remoteOptions.parse({ baseUrl: `${origin}/v1`, ...over });
  const backend = remote.create([{ spec: specOf(), options }], { clock });
  onTestFinished(() => backend.close());
  return backend;
}

export interface Sent {
  readonly outcome: Outcome;
  readonly sink: Taken;
}

export async function send(
  backend: Backend,
  call: Call,
  signal: AbortSignal = new AbortController().signal,
  sink: Taken = new Taken(),
): Promise<Sent> {
  return { outcome: await backend.run(instanceOf("chat-model"), call, sink as Sink, signal), sink };
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
