// A second server: an OpenAI-shaped engine on loopback whose answers are written byte by byte, and which keeps every byte
// it was sent.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly response: ServerResponse;
  /** Resolves with the time (of `performance.now`) at which its socket closed before the answer was complete. */
  readonly cut: Promise<number>;
}

export type Answer = (received: Received) => unknown;

export interface EngineServer {
  readonly origin: string;
  readonly received: Received[];
  /** Answers everything from now on. */
  answer: Answer;
  /** The next request that comes after `count` others. */
  request(count?: number): Promise<Received>;
}

export async function startEngine(answer: Answer): Promise<EngineServer> {
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((incoming, response) => void take(incoming, response));
  const take = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const cut = new Promise<number>((resolve) => {
      response.once("close", () => {
        if (!response.writableFinished) resolve(performance.now());
      });
    });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk);
    } catch {
      return;
    }
    const whole = { path: incoming.url ?? "", headers: incoming.headers, body: Buffer.concat(chunks), response, cut };
    received.push(whole);
    for (const wake of waiting.splice(0)) wake();
    await engine.answer(whole);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const engine: EngineServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer,
    request: async (count = 0) => {
      for (;;) {
        const one = received[count];
        if (one !== undefined) return one;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
  return engine;
}

export function replyWith(status: number, body: string | Buffer, contentType = "application/json"): Answer {
  return ({ response }) => {
    response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(body) }).end(body);
  };
}

/** One write for each piece, so that they come as chunks of their own. */
export function streamOf(pieces: readonly (string | Buffer)[], contentType = "text/event-stream"): Answer {
  return async ({ response }) => {
    response.writeHead(200, { "content-type": contentType });
    response.socket?.setNoDelay(true);
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    response.end();
  };
}

/** For a configuration: the models that this engine is asked for. */
export function remoteModels(engine: EngineServer, names: readonly string[], over: object = {}): object {
  const backend = { driver: "remote", baseUrl: `${engine.origin}/v1` };
  return Object.fromEntries(names.map((name) => [name, { ...over, backend }]));
}
