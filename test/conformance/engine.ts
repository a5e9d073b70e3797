// The plain OpenAI-compatible server that stands behind the router, and before the clients when there is no router. What
// it does is written in the prompt: `tag=x wait=2 status=400`. It knows nothing of jobs and has no Responses endpoint.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What came of one tag. */
export interface Trace {
  requests: number;
  /** Sockets that were closed before their answer was complete. */
  cut: number;
}

export interface PlainServer {
  readonly origin: string;
  trace(tag: string): Trace;
  close(): void;
}

interface Asked {
  readonly tag: string;
  readonly waitMs: number;
  readonly status: number;
  readonly stream: boolean;
  readonly tools: boolean;
  readonly base64: boolean;
}

const VECTOR = [0.5, -1, 2];

export async function startPlainServer(): Promise<PlainServer> {
  const traces = new Map<string, Trace>();
  const trace = (tag: string): Trace => {
    const found = traces.get(tag) ?? { requests: 0, cut: 0 };
    traces.set(tag, found);
    return found;
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing, trace));
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    trace,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, trace: (tag: string) => Trace) {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const asked = read(Buffer.concat(chunks).toString());
  const one = trace(asked.tag);
  one.requests += 1;
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) one.cut += 1;
  });
  const timer = setTimeout(() => reply(incoming.url ?? "", asked, outgoing), asked.waitMs);
  outgoing.once("close", () => clearTimeout(timer));
}

function read(body: string): Asked {
  const word = (name: string): string | undefined => new RegExp(`\\b${name}=([\\w.-]+)`).exec(body)?.[1];
  return {
    tag: word("tag") ?? "none",
    waitMs: Number(word("wait") ?? 0) * 1000,
    status: Number(word("status") ?? 200),
    stream: /"stream":\s*true/.test(body),
    tools: body.includes('"tools"'),
    base64: body.includes('"base64"'),
  };
}

function reply(path: string, asked: Asked, outgoing: ServerResponse): void {
  const { status, tools } = asked;
  if (path === "/v1/models") json(outgoing, 200, { object: "list", data: [{ id: "m", object: "model" }] });
  else if (status !== 200) json(outgoing, status, failure(`it asked for ${status}`));
  else if (path === "/v1/embeddings") json(outgoing, 200, embedding(asked));
  else if (path !== "/v1/chat/completions") json(outgoing, 404, failure(`no such path: ${path}`));
  else if (asked.stream && !tools) stream(asked, outgoing);
  else json(outgoing, 200, completion(asked));
}

function failure(message: string): object {
  return { error: { message, type: "asked", param: null, code: "asked" } };
}

function json(outgoing: ServerResponse, status: number, value: object): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function embedding({ base64 }: Asked): object {
  const packed = Buffer.from(new Float32Array(VECTOR).buffer).toString("base64");
  const data = [{ object: "embedding", index: 0, embedding: base64 ? packed : VECTOR }];
  return { object: "list", model: "m", data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

function completion({ tag, tools }: Asked): object {
  const call = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Köln"}' } };
  const message = tools
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: `echo ${tag}` };
  const choices = [{ index: 0, message, finish_reason: tools ? "tool_calls" : "stop", logprobs: null }];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  return { id: `chatcmpl-${tag}`, object: "chat.completion", created: 1_790_000_000, model: "m", choices, usage };
}

function stream({ tag }: Asked, outgoing: ServerResponse): void {
  const chunk = (choices: object[], over: object = {}): string => {
    const head = { id: `chatcmpl-${tag}`, object: "chat.completion.chunk", created: 1_790_000_000, model: "m" };
    return `data: ${JSON.stringify({ ...head, choices, ...over })}\n\n`;
  };
  const delta = (content: string, finish: string | null = null): string =>
    chunk([{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }]);
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  outgoing.end(`${delta("echo ")}${delta(tag)}${delta("", "stop")}${chunk([], { usage })}data: [DONE]\n\n`);
}
