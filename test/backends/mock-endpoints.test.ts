// The mock answers every endpoint in the shape that real clients expect, and refuses as an engine does.

import OpenAI, { toFile } from "openai";
import { describe, expect, it } from "vitest";
import type { Head } from "../../src/backends/backend.ts";
import { passing, rig } from "./mock-rig.ts";
import { callOf, events, Taken } from "./samples.ts";

/** The official client, whose requests go straight into a mock engine. */
async function client() {
  const { clock, backend, load } = rig({ defaultMaxTokens: 5 });
  await load();
  const [instance] = await backend.inspect();
  const fetchMock = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    const bytes = new Uint8Array(await request.arrayBuffer());
    const call = callOf(new URL(request.url).pathname, bytes, {
      contentType: request.headers.get("content-type") ?? "",
    });
    const sink = new Taken();
    if (instance === undefined) throw new Error("not loaded");
    await passing(clock, backend.run(instance, call, sink, new AbortController().signal));
    const { status, headers } = sink.heads[0] as Head;
    return new Response(Uint8Array.from(sink.bytes), { status, headers });
  };
  return new OpenAI({ apiKey: "k", baseURL: "http://mock/v1", fetch: fetchMock, maxRetries: 0 });
}

const TEXT = "[chat-model] the quick brown fox";
const messages = [{ role: "user" as const, content: "hi" }];
const tools = [
  {
    type: "function" as const,
    function: {
      name: "look_up",
      parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
    },
  },
];

describe("what the official client makes of the mock", () => {
  it("chats, in one piece and streamed, with usage when it is asked for", async () => {
    const openai = await client();

    const whole = await openai.chat.completions.create({ model: "m", messages });
    const capped = await openai.chat.completions.create({ model: "m", messages, max_completion_tokens: 2 });
    let text = "";
    let last: unknown = null;
    let reason: string | null = null;
    const stream = await openai.chat.completions.create({
      model: "m",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      reason = chunk.choices[0]?.finish_reason ?? reason;
      last = chunk.usage;
    }

    expect(whole.choices).toMatchObject([{ message: { role: "assistant", content: TEXT }, finish_reason: "stop" }]);
    expect(whole.usage).toMatchObject({ completion_tokens: 5 });
    expect(capped.choices[0]).toMatchObject({ message: { content: "[chat-model] the" }, finish_reason: "length" });
    expect([text, reason]).toEqual([TEXT, "stop"]);
    expect(last).toMatchObject({ completion_tokens: 5 });
  });

  it("calls one tool, in one piece and streamed, and answers in words once it has the result", async () => {
    const openai = await client();

    const whole = await openai.chat.completions.create({ model: "m", messages, tools });
    const call = whole.choices[0]?.message.tool_calls?.[0];
    const streamed = await openai.chat.completions.stream({ model: "m", messages, tools }).finalChatCompletion();
    const after = await openai.chat.completions.create({
      model: "m",
      tools,
      messages: [...messages, { role: "tool", tool_call_id: call?.id ?? "", content: "7" }],
    });

    expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
    expect(call).toMatchObject({ function: { name: "look_up", arguments: '{"city":"mock","days":1}' } });
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: "look_up", arguments: '{"city":"mock","days":1}' },
    });
    expect(after.choices[0]?.message.content).toBe(TEXT);
  });

  it("answers JSON after a schema", async () => {
    const openai = await client();
    const schema = {
      type: "object",
      properties: { ok: { type: "boolean" }, tags: { type: "array", items: { enum: ["a"] } } },
    };

    const answer = await openai.chat.completions.create({
      model: "m",
      messages,
      response_format: { type: "json_schema", json_schema: { name: "s", schema } },
    });

    expect(JSON.parse(answer.choices[0]?.message.content ?? "")).toEqual({ ok: true, tags: ["a"] });
  });

  it("responds, in one piece and streamed, with every event in its order", async () => {
    const openai = await client();
    const types: string[] = [];
    const numbers: number[] = [];

    const whole = await openai.responses.create({ model: "m", input: "hi" });
    const capped = await openai.responses.create({ model: "m", input: "hi", max_output_tokens: 2 });
    for await (const event of await openai.responses.create({ model: "m", input: "hi", stream: true })) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    const final = await openai.responses.stream({ model: "m", input: "hi" }).finalResponse();
    const called = await openai.responses.create({
      model: "m",
      input: "hi",
      tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }],
    });

    expect(whole).toMatchObject({ status: "completed", output_text: TEXT, usage: { output_tokens: 5 } });
    expect(capped).toMatchObject({ status: "incomplete", output_text: "[chat-model] the" });
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      ...Array.from({ length: 5 }, () => "response.output_text.delta"),
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(numbers).toEqual(types.map((_, index) => index));
    expect(final.output_text).toBe(TEXT);
    expect(called.output[0]).toMatchObject({ type: "function_call", name: "f", arguments: "{}" });
  });

  it("embeds the same text the same way, as numbers and as base64", async () => {
    const openai = await client();

    const base64 = await openai.embeddings.create({ model: "m", input: ["a", "b", "a"], dimensions: 4 });
    const floats = await openai.embeddings.create({ model: "m", input: "a", dimensions: 4, encoding_format: "float" });

    expect(base64.data.map((entry) => entry.index)).toEqual([0, 1, 2]);
    expect(base64.data[0]?.embedding).toEqual(base64.data[2]?.embedding);
    expect(base64.data[0]?.embedding).not.toEqual(base64.data[1]?.embedding);
    expect(floats.data[0]?.embedding).toHaveLength(4);
    floats.data[0]?.embedding.forEach((value, i) => {
      expect(value).toBeCloseTo(base64.data[0]?.embedding[i] ?? Number.NaN, 6);
    });
  });

  it("completes, moderates, speaks, transcribes and draws", async () => {
    const openai = await client();

    const completion = await openai.completions.create({ model: "m", prompt: "x" });
    const moderation = await openai.moderations.create({ model: "m", input: ["x", "y"] });
    const speech = await openai.audio.speech.create({ model: "m", voice: "v", input: "x" });
    const file = await toFile(Buffer.alloc(500_000, 7), "ä.wav", { type: "audio/wav" });
    const transcript = await openai.audio.transcriptions.create({ model: "m", file, response_format: "json" });
    const image = await openai.images.generate({ model: "m", prompt: "x", n: 2 });

    expect(completion.choices[0]).toMatchObject({ text: TEXT, finish_reason: "stop" });
    expect(moderation.results.map((result) => result.flagged)).toEqual([false, false]);
    expect(speech.headers.get("content-type")).toBe("audio/wav");
    expect(Buffer.from(await speech.arrayBuffer()).toString("latin1", 0, 4)).toBe("RIFF");
    expect(transcript.text).toBe(TEXT);
    expect(image.data).toHaveLength(2);
  });

  it("gets its own mistakes back as a 400 in the usual envelope", async () => {
    const openai = await client();
    const wrong = openai.chat.completions.create({ model: "m", messages: [] });

    await expect(wrong).rejects.toMatchObject({ status: 400, type: "invalid_request_error", param: "messages" });
  });
});

describe("endpoints that the official client does not know", () => {
  async function ask(endpoint: string, body: unknown) {
    const { load, fly } = rig({ defaultMaxTokens: 5 });
    await load();
    return fly(callOf(endpoint, body));
  }

  it("reranks best first, scores, and counts tokens", async () => {
    const rerank = await ask("/v1/rerank", { model: "m", query: "q", documents: ["a", { text: "b" }, "c"], top_n: 2 });
    const score = await ask("/v1/score", { model: "m", text_1: "q", text_2: ["a", "b"] });
    const tokens = await ask("/tokenize", { model: "m", prompt: "one two three" });

    const results = rerank.sink.json["results"] as { relevance_score: number }[];
    expect(results).toHaveLength(2);
    expect(results[0]?.relevance_score).toBeGreaterThanOrEqual(results[1]?.relevance_score ?? 1);
    expect(score.sink.json["data"]).toHaveLength(2);
    expect(tokens.sink.json).toMatchObject({ count: 3, tokens: { length: 3 } });
    expect(tokens.tookMs).toBe(200);
  });

  it("speaks Anthropic's messages, in one piece and streamed", async () => {
    const body = { model: "m", max_tokens: 3, messages: [{ role: "user", content: "hi" }] };

    const whole = await ask("/v1/messages", body);
    const stream = await ask("/v1/messages", { ...body, stream: true });

    expect(whole.sink.json).toMatchObject({ type: "message", stop_reason: "max_tokens", usage: { output_tokens: 3 } });
    expect(events(stream.sink.text).map((event) => event["type"])).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it.each([
    ["{", "could not parse"],
    ["[]", "must be a JSON object"],
    ["", "could not parse"],
    ["{}", "model"],
    ['{"model":1}', "model"],
    ['{"model":"m","max_tokens":0,"messages":[1]}', "max_tokens"],
    ['{"model":"m","max_tokens":"7","messages":[1]}', "max_tokens"],
  ])("refuses the body %s as an engine does", async (body, words) => {
    const { outcome, sink } = await ask("/v1/chat/completions", body);

    expect(outcome).toEqual({ kind: "refused" });
    expect(sink.heads[0]?.status).toBe(400);
    expect(sink.json).toMatchObject({
      error: { message: expect.stringContaining(words), type: "invalid_request_error" },
    });
  });

  it("refuses an endpoint it does not have with 404", async () => {
    const { outcome, sink } = await ask("/v1/nonsense", { model: "m" });

    expect(outcome).toEqual({ kind: "refused" });
    expect(sink.heads[0]?.status).toBe(404);
  });

  it("answers a body too large to parse from what its ends say", async () => {
    const filler = "x".repeat(600_000);
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: filler }], max_tokens: 2 });

    const { outcome, sink } = await ask("/v1/chat/completions", body);

    expect(outcome).toEqual({ kind: "succeeded" });
    expect(sink.json["usage"]).toMatchObject({ completion_tokens: 2, prompt_tokens: Math.ceil(body.length / 4) });
  });
});
