// The redirect ladder and retry adoption on real sockets, with the unmodified client and its own retries.

import OpenAI from "openai";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EngineServer, type Received, remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { pause, type RouterProcess, serve, tempFolder } from "./process.ts";
import { PLAIN } from "./recorded-answers.ts";
import { ask, CHAT, chatBody } from "./wire.ts";

let engine: EngineServer;
let router: RouterProcess;
let before = 0;

beforeAll(async () => {
  engine = await startEngine(replyWith(200, PLAIN));
  const config = { sync: { holdSeconds: 0.5 }, models: remoteModels(engine, ["m"]) };
  router = await serve({ config, folder: tempFolder() });
});

beforeEach(() => {
  before = engine.received.length;
});

const slowly =
  (waitMs: number) =>
  async (received: Received): Promise<void> => {
    await pause(waitMs);
    replyWith(200, PLAIN)(received);
  };
const calls = (): Received[] => engine.received.slice(before);
const call = { model: "m", messages: [{ role: "user" as const, content: "hi" }] };

describe("an unmodified client", () => {
  it("waits six holds long through redirects, and has the engine's answer of one call", async () => {
    engine.answer = slowly(3_000);
    const openai = new OpenAI({ baseURL: `${router.origin}/v1`, apiKey: "none", maxRetries: 0 });

    const { data, response } = await openai.chat.completions.create(call).withResponse();

    expect(data).toEqual(JSON.parse(PLAIN));
    expect(new URL(response.url).pathname).toMatch(/^\/v1\/jobs\/job_[0-9a-f]{32}\/result$/);
    expect(Number(new URL(response.url).searchParams.get("hop"))).toBeGreaterThanOrEqual(4);
    expect(calls()).toHaveLength(1);
  });

  it("that gives up and repeats itself is still one call of the engine, on the ladder and before it", async () => {
    engine.answer = slowly(4_000);
    const posts: string[] = [];
    const openai = new OpenAI({
      baseURL: `${router.origin}/v1`,
      apiKey: "none",
      fetch: (url, init) => {
        posts.push(new Headers(init?.headers).get("x-stainless-retry-count") ?? "none");
        return fetch(url, init);
      },
    });

    const [early, onLadder] = await Promise.all([
      openai.chat.completions.create({ ...call, seed: 1 }, { timeout: 400, maxRetries: 9 }),
      openai.chat.completions.create({ ...call, seed: 2 }, { timeout: 1_800, maxRetries: 3 }),
    ]);

    expect([early, onLadder]).toEqual([JSON.parse(PLAIN), JSON.parse(PLAIN)]);
    expect(posts.length).toBeGreaterThan(4);
    expect(calls()).toHaveLength(2);
  });

  it("that aborts frees the engine after the orphan time", async () => {
    engine.answer = () => undefined;
    const openai = new OpenAI({ baseURL: `${router.origin}/v1`, apiKey: "none" });
    const left = new AbortController();
    const asked = openai.chat.completions.create(call, { signal: left.signal });
    asked.catch(() => undefined);
    const received = await engine.request(before);

    left.abort();

    await received.cut;
    expect(calls()).toHaveLength(1);
  });
});

it("a client that does not follow is told what to do", async () => {
  engine.answer = slowly(1_500);

  const reply = await ask(router.origin, CHAT, { body: chatBody("m") });

  expect(reply.status).toBe(303);
  expect(reply.json<{ error: { message: string } }>().error.message).toContain("follow_redirects=True");
});

it("a client that repeats its method on the way, as curl does with -X, gets the answer too", async () => {
  engine.answer = slowly(1_500);
  let path = CHAT;
  let reply = await ask(router.origin, path, { body: chatBody("m") });
  while (reply.status === 303) {
    path =
      new URL(reply.headers.location ?? "", `${router.origin}${path}`).pathname +
      (reply.headers.location?.match(/\?.*$/)?.[0] ?? "");
    reply = await ask(router.origin, path, { body: chatBody("m") });
  }

  expect([reply.status, reply.text]).toEqual([200, PLAIN]);
  expect(calls()).toHaveLength(1);
});
