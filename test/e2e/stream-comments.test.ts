// A stream that has to wait: its bytes while it is queued and while its engine is silent. Nothing but comments may come
// between an engine's events, because strict parsers take any blank line after an id for an event.

import { beforeAll, describe, expect, it } from "vitest";
import { type EngineServer, remoteModels, startEngine } from "./engine-server.ts";
import { pause, type RouterProcess, serve, tempFolder } from "./process.ts";
import { CHAT, chatBody, open } from "./wire.ts";

/** The answer's headers go out after 10 s without the engine's; a comment comes after each 12 s of silence. */
const SILENCE_MS = 13_000;

let engine: EngineServer;
let router: RouterProcess;

beforeAll(async () => {
  engine = await startEngine(async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('id: 7\ndata: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    await pause(SILENCE_MS);
    response.write('data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}\n\n');
    response.end("data: [DONE]\n\n");
  });
  const backend = { driver: "mock", loadSeconds: 12, firstTokenSeconds: 0.01, tokensPerSecond: 200 };
  const models = { ...remoteModels(engine, ["silent"]), cold: { loadSeconds: 12, backend } };
  router = await serve({ config: { models }, folder: tempFolder() });
});

interface Event {
  readonly id: string | null;
  readonly data: string;
}

/** The strictest reading: a blank line ends an event as soon as any field was seen since the last one, data or not. */
function strictEvents(text: string): Event[] {
  const events: Event[] = [];
  let id: string | null = null;
  let data: string[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    if (line === "" && (id !== null || data.length > 0)) {
      events.push({ id, data: data.join("\n") });
      data = [];
    } else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
    else if (line.startsWith("id:")) id = line.slice(3).trim();
  }
  return events;
}

async function rawStream(model: string): Promise<{ text: string; openedAfterMs: number }> {
  const startedAtMs = performance.now();
  const opened = await open(router.origin, CHAT, { body: chatBody(model, { stream: true, max_tokens: 3 }) });
  const openedAfterMs = performance.now() - startedAtMs;
  expect([opened.status, opened.headers["content-type"]]).toEqual([200, expect.stringMatching(/^text\/event-stream/)]);
  return { text: (await opened.rest()).toString(), openedAfterMs };
}

describe.concurrent("a stream that waits", () => {
  it("in the queue opens after ten seconds and says so in comments only, until the engine speaks", async () => {
    const { text, openedAfterMs } = await rawStream("cold");

    const events = text.split("\n\n").slice(0, -1);
    expect(openedAfterMs).toBeGreaterThan(9_500);
    expect(events[0]).toMatch(/^: queued position=0/);
    expect(events.filter((event) => !/^(data: |: )/.test(event))).toEqual([]);
    expect(text).not.toMatch(/^(id|retry|event):/m);
    expect(text).not.toMatch(/^data:\s*$/m);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("for its engine gets a comment that is no event, even for a parser that ends one at any blank line", async () => {
    const { text } = await rawStream("silent");

    expect(text).toMatch(/^: ?keep-alive$/m);
    expect(strictEvents(text).map(({ data }) => data)).toEqual([
      '{"choices":[{"index":0,"delta":{"content":"a"}}]}',
      '{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}',
      "[DONE]",
    ]);
  });
});
