// One HTTP request on a socket of its own, with nothing between the test and the bytes.

import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import type { Receipt } from "../../src/client/wire.ts";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  json<T = Record<string, unknown>>(): T;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Chunked, without a Content-Length. */
  readonly chunked?: boolean;
}

/** An answer whose body is still coming. */
export interface Opened {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  /** What came so far. */
  readonly seen: () => Buffer;
  readonly rest: () => Promise<Buffer>;
}

export function open(origin: string, path: string, asked: Asked = {}): Promise<Opened> {
  const { method = asked.body === undefined ? "GET" : "POST", headers = {}, body, chunked = false } = asked;
  const length = body === undefined || chunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${origin}${path}`, { method, headers: { ...type, ...length, ...headers }, agent: false });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => resolve(opened(incoming)));
    outgoing.end(body);
  });
}

function opened(incoming: IncomingMessage): Opened {
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve, reject) => {
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => resolve(Buffer.concat(chunks)));
    incoming.on("error", reject);
    incoming.on("close", () => {
      if (!incoming.complete) reject(new Error("the connection was cut"));
    });
  });
  ended.catch(() => undefined);
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    socket: incoming.socket,
    seen: () => Buffer.concat(chunks),
    rest: () => ended,
  };
}

export async function ask(origin: string, path: string, asked: Asked = {}): Promise<Reply> {
  const { status, headers, rest } = await open(origin, path, asked);
  const bytes = await rest();
  const text = bytes.toString();
  return { status, headers, bytes, text, json: <T>() => JSON.parse(text) as T };
}

export interface HangUp {
  readonly closed: Promise<void>;
}

/** Sends the whole request and closes the socket, after `waitMs`, without waiting for an answer. */
export function hangUpAfterBody(origin: string, path: string, { body = "", headers = {} }: Asked, waitMs = 0): HangUp {
  const { hostname, port, host } = new URL(origin);
  const lines = Object.entries({
    host,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  socket.on("error", () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  socket.write(body, () => setTimeout(() => socket.destroy(), waitMs));
  return { closed };
}

export const chatBody = (model: string, over: object = {}): string =>
  JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], ...over });

export const CHAT = "/v1/chat/completions";
export const ASYNC = { prefer: "respond-async" } as const;

/** @throws with the answer, when it is no receipt */
export async function submit(origin: string, body: string, headers: Record<string, string> = {}): Promise<Receipt> {
  const reply = await ask(origin, CHAT, { body, headers: { ...ASYNC, ...headers } });
  if (reply.status !== 202) throw new Error(`expected 202, got ${reply.status}: ${reply.text}`);
  return reply.json<Receipt>();
}

export async function receiptOf(origin: string, id: string, waitSeconds = 0): Promise<Receipt> {
  const reply = await ask(origin, `/v1/jobs/${id}?wait=${waitSeconds}`);
  if (reply.status !== 200) throw new Error(`expected 200, got ${reply.status}: ${reply.text}`);
  return reply.json<Receipt>();
}
