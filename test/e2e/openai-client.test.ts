// OpenAI's own client against the real router, with a second server behind it: what the client understands, and that not
// a byte differs from what it would have had from that server directly.

import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { type EngineServer, remoteModels, replyWith, startEngine, streamOf } from "./engine-server.ts";
import { eventually, type RouterProcess, serve, tempFolder } from "./process.ts";
import {
  BAD_REQUEST,
  EMBEDDINGS,
  PLAIN,
  piecesOf,
  STREAM,
  TOOL,
  TOOL_STREAM,
  UNPROCESSABLE,
} from "./recorded-answers.ts";
import { ask, CHAT, open } from "./wire.ts";

const TOOLS: OpenAI.ChatCompletionTool[] = [
  { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } },
];
const MESSAGES: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Wie ist das Wetter in Köln? 😀" }];

/** The official client counts its repetitions, so a call it drops keeps its place for so long. */
const ORPHAN_SECONDS = 0.2;
const SWEEP_MS = 1_000;

let engine: EngineServer;
let router: RouterProcess;

beforeAll(async () => {
  engine = await startEngine(replyWith(200, PLAIN));
  const models = remoteModels(engine, ["m", "frail"]);
  const config = { jobs: { maxAttempts: 1 }, sync: { orphanSeconds: ORPHAN_SECONDS }, models };
  router = await serve({ config, folder: tempFolder() });
});

interface Tapped {
  readonly client: OpenAI;
  /** The bodies of all answers so far. */
  readonly answers: Promise<Buffer>[];
  readonly statuses: number[];
}

/** The official client with default settings, but that what it receives is kept too. */
function clientAt(origin: string): Tapped {
  const answers: Promise<Buffer>[] = [];
  const statuses: number[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    statuses.push(response.status);
    const copy = response.clone();
    const bytes = copy.arrayBuffer().then((whole) => Buffer.from(whole));
    bytes.catch(() => undefined);
    answers.push(bytes);
    return response;
  };
  return { client: new OpenAI({ baseURL: `${origin}/v1`, apiKey: "sk-secret", fetch }), answers, statuses };
}

/** The same call directly and through the router: what the engine got and what the client got must be equal. */
async function both<T>(call: (client: OpenAI) => Promise<T>): Promise<T> {
  const before = engine.received.length;
  const direct = clientAt(engine.origin);
  const through = clientAt(router.origin);
  const expected = await call(direct.client);
  const got = await call(through.client);

  expect(got).toEqual(expected);
  expect(await Promise.all(through.answers)).toEqual(await Promise.all(direct.answers));
  const [sent, forwarded] = engine.received.slice(before);
  expect(engine.received).toHaveLength(before + 2);
  expect(forwarded?.body).toEqual(sent?.body);
  expect(forwarded?.path).toBe(sent?.path);
  expect(forwarded?.headers["content-type"]).toBe(sent?.headers["content-type"]);
  expect(forwarded?.headers["authorization"]).toBeUndefined();
  return got;
}

const plainly = (error: unknown): unknown => {
  if (!(error instanceof OpenAI.APIError)) throw error;
  return { class: error.constructor.name, status: error.status, error: error.error, code: error.code };
};

describe("the official client through the router", () => {
  it("gets a plain answer, byte for byte", async () => {
    engine.answer = replyWith(200, PLAIN);

    const answer = await both((client) => client.chat.completions.create({ model: "m", messages: MESSAGES }));

    expect(answer.choices[0]?.message.content).toBe("Grüße 😀 / ok");
  });

  it("gets a stream, byte for byte, however the engine cuts it", async () => {
    engine.answer = streamOf(piecesOf(STREAM.join(""), [1, 3, 170, 2, 61]));

    const texts = await both(async (client) => {
      const stream = await client.chat.completions.create({ model: "m", messages: MESSAGES, stream: true });
      const pieces: string[] = [];
      for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? "");
      return pieces;
    });

    expect(texts.join("")).toBe("Grüße 😀");
  });

  it("gets a tool call", async () => {
    engine.answer = replyWith(200, TOOL);

    const answer = await both((client) =>
      client.chat.completions.create({ model: "m", messages: MESSAGES, tools: TOOLS, tool_choice: "auto" }),
    );

    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { arguments: '{"city": "Köln"}' } });
  });

  it("gets a streamed tool call", async () => {
    engine.answer = streamOf(TOOL_STREAM);

    const message = await both(async (client) => {
      const stream = client.chat.completions.stream({ model: "m", messages: MESSAGES, tools: TOOLS });
      return (await stream.finalChatCompletion()).choices[0]?.message;
    });

    expect(message?.tool_calls?.[0]).toMatchObject({ function: { name: "weather", arguments: '{"city": "Köln"}' } });
  });

  it("gets embeddings", async () => {
    engine.answer = replyWith(200, EMBEDDINGS);

    const answer = await both((client) => client.embeddings.create({ model: "m", input: "x" }));

    expect(answer.data[0]?.embedding).toEqual([1, 2, 3]);
  });

  it.each([
    [400, "BadRequestError", BAD_REQUEST],
    [422, "UnprocessableEntityError", UNPROCESSABLE],
  ])("gets the engine's %i as the same error with the same bytes, at the first try", async (status, name, body) => {
    engine.answer = replyWith(status, body);

    const error = await both((client) =>
      client.chat.completions.create({ model: "m", messages: MESSAGES }).catch(plainly),
    );

    expect(error).toMatchObject({ class: name, status });
  });

  it("gets NotFoundError with a suggestion for a model that is not there, and the engine is not asked", async () => {
    const before = engine.received.length;

    const error = await clientAt(router.origin)
      .client.chat.completions.create({ model: "frial", messages: MESSAGES })
      .catch(plainly);

    expect(error).toMatchObject({ class: "NotFoundError", status: 404, code: "model_not_found" });
    expect(JSON.stringify(error)).toContain('Did you mean \\"frail\\"');
    expect(engine.received).toHaveLength(before);
  });

  it("gets an engine's 500 as one InternalServerError that it does not repeat", async () => {
    const before = engine.received.length;
    engine.answer = replyWith(500, '{"error":{"message":"CUDA out of memory"}}');
    const { client, statuses } = clientAt(router.origin);

    const error = await client.chat.completions.create({ model: "m", messages: MESSAGES }).catch(plainly);

    expect(error).toMatchObject({ class: "InternalServerError", status: 502, code: "backend_error" });
    expect([statuses, engine.received.length - before]).toEqual([[502], 1]);
  });

  it("reaches the engine when it aborts in mid-stream and does not come back", async () => {
    const before = engine.received.length;
    engine.answer = ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(STREAM.slice(0, 2).join(""));
    };
    const { client } = clientAt(router.origin);
    const stream = await client.chat.completions.create({ model: "m", messages: MESSAGES, stream: true });
    const asked = await engine.request(before);
    let abortedAtMs = 0;

    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content !== "Grü") continue;
      abortedAtMs = performance.now();
      stream.controller.abort();
    }

    expect((await asked.cut) - abortedAtMs).toBeLessThan(ORPHAN_SECONDS * 1000 + SWEEP_MS + 1_000);
  });

  it("reads the list of models", async () => {
    const { client } = clientAt(router.origin);

    const models = await client.models.list();
    const one = await client.models.retrieve("m");

    expect(models.data.map(({ id }) => id).sort()).toEqual(["frail", "m"]);
    expect(one).toMatchObject({ id: "m", object: "model" });
  });
});

describe("odd JSON", () => {
  const ODD =
    ' {"top_k":1.0 ,"model":"m","seed":9007199254740993,"messages":[{"content":"\\u00e9\\ud83d\\ude00\\/","role":"user"}],' +
    '"z":-0,"a":1E400,"temperature":0.10,"a":[ ]}\r\n';

  it("reaches the engine as it was sent, and its answer comes back as it was given", async () => {
    const before = engine.received.length;
    engine.answer = replyWith(200, PLAIN, "application/json; charset=utf-8");

    const reply = await ask(router.origin, CHAT, { body: ODD });

    expect(engine.received[before]?.body.toString()).toBe(ODD);
    expect(engine.received[before]?.headers["content-length"]).toBe(String(Buffer.byteLength(ODD)));
    expect(reply.text).toBe(PLAIN);
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  it("comes back as it was given through a receipt, too", async () => {
    engine.answer = replyWith(200, PLAIN);

    const accepted = await ask(router.origin, CHAT, { body: ODD, headers: { prefer: "respond-async" } });
    const { id } = accepted.json<{ id: string }>();
    const receipt = await ask(router.origin, `/v1/jobs/${id}?wait=10`);
    const result = await ask(router.origin, `/v1/jobs/${id}/result`);

    expect(result.text).toBe(PLAIN);
    expect(receipt.text).toContain(`"body":${PLAIN.trimEnd()}`);
  });

  it("stays whole when it comes without a length, in chunks that cut its characters", async () => {
    const before = engine.received.length;
    engine.answer = replyWith(200, PLAIN);
    const opened = open(router.origin, CHAT, { body: ODD, chunked: true });

    const reply = await opened;
    await reply.rest();

    const received = await eventually(() => {
      const found = engine.received[before];
      expect(found).toBeDefined();
      return found;
    });
    expect(received?.body.toString()).toBe(ODD);
    expect(received?.headers["content-length"]).toBe(String(Buffer.byteLength(ODD)));
  });
});
