// A port in front of the app, and the order in which it goes down: stop accepting, refuse new work, end what waits
// without end, and close what is left.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { type Clock, sleepUntil } from "../domain/clock.ts";
import type { ClosingSwitch } from "./closing.ts";
import type { HttpEnv } from "./deps.ts";
import { envelope } from "./error-body.ts";

/** Slow pollers meet no closed socket; Node's default of 5 s is shorter than their pause. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 76_000;
const MAX_HEADER_BYTES = 64 * 1024;
const LAST_WORDS_MS = 1_000;
const ANSWER_STALL_MS = 60_000;

export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly clock: Clock;
  /** The same that the app was made with. */
  readonly closing: ClosingSwitch;
  /** How long a caller may take nothing of a finished answer before it is dropped. Default: a minute. */
  readonly answerStallMs?: number;
}

export interface Listening {
  readonly port: number;
  readonly url: string;
  /** No new connection and no new work; event streams end, running answers go on. Call it before the engine drains. */
  drain(): void;
  /** Ends open answers with an error and closes every connection. Call it after the engine has drained. */
  close(): Promise<void>;
}

/** @throws what Node says when the address cannot be had, e.g. `EADDRINUSE`. */
export async function listen(app: Hono<HttpEnv>, options: ListenOptions): Promise<Listening> {
  const { closing, clock } = options;
  const answer = getRequestListener((request, env) => app.fetch(request, env as HttpEnv["Bindings"]), {
    errorHandler: () => malformed("The request's target or Host header is not valid."),
  });
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS, requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES },
    (incoming, outgoing) => {
      lastOnes(outgoing);
      dropWhenStalled(outgoing, options.answerStallMs ?? ANSWER_STALL_MS);
      void answer(incoming, outgoing);
    },
  );
  const lastOnes = closeWhenDraining(server, closing.draining);
  server.on("clientError", refuseMalformed);
  await opened(server, options);
  const { port } = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => {
    server.once("close", resolve);
  });
  const drain = (): void => {
    if (server.listening) server.close();
    closing.drain();
  };
  return {
    port,
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    drain,
    close: async () => {
      drain();
      closing.end();
      server.closeIdleConnections();
      await Promise.race([closed, sleepUntil(clock, clock.nowMs() + LAST_WORDS_MS)]);
      server.closeAllConnections();
      await closed;
    },
  };
}

function opened(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** An answer that nobody takes is not kept: the socket's own clock runs once all of it has been written. */
function dropWhenStalled(outgoing: ServerResponse, stallMs: number): void {
  outgoing.once("prefinish", () => {
    if (outgoing.writableLength > 0) outgoing.setTimeout(stallMs, () => outgoing.destroy());
  });
}

/** While draining, each connection ends with the answer it carries, also where that began before. */
function closeWhenDraining(server: Server, draining: AbortSignal): (outgoing: ServerResponse) => void {
  const open = new Set<ServerResponse>();
  const last = (outgoing: ServerResponse): void => {
    if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
  };
  draining.addEventListener("abort", () => open.forEach(last), { once: true });
  return (outgoing) => {
    if (draining.aborted) last(outgoing);
    open.add(outgoing);
    outgoing.once("close", () => {
      open.delete(outgoing);
      if (draining.aborted) setImmediate(() => server.closeIdleConnections());
    });
  };
}

function malformed(message: string): Response {
  return envelope(400, { message, type: "invalid_request_error", param: null, code: "invalid_header" });
}

/** What Node could not read as HTTP still gets a body that says so. */
function refuseMalformed(error: Error & { code?: string }, socket: Socket & { _httpMessage?: ServerResponse }): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const message =
    error.code === "HPE_HEADER_OVERFLOW"
      ? `The request's headers are larger than ${MAX_HEADER_BYTES} bytes.`
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "The request's headers took too long to arrive."
        : "The request is not valid HTTP/1.1.";
  const body = JSON.stringify({
    error: { message, type: "invalid_request_error", param: null, code: "invalid_header" },
  });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
