// Background responses from an engine that has chat completions and nothing else: learned from its first answer.

import { describe, expect, it } from "vitest";
import { modelSpec } from "../../intake/given.ts";
import { type GivenOptions, MODEL, passes, quiet } from "../given.ts";
import type { ScriptedCall } from "../scripted-backend.ts";
import { engineResponse, INPUT, type Site, site } from "./given.ts";

const NOT_FOUND = '{"detail":"Not Found"}';
const TOOLS = [{ type: "function" as const, name: "look", parameters: {}, strict: false }];
const base = { id: "chatcmpl-ab1", created: 5, model: "m" };
const COMPLETION = JSON.stringify({
  ...base,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "hello there" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
});
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const CHUNKS =
  chunk({ role: "assistant", content: "" }) +
  chunk({ content: "hello " }) +
  chunk({ content: "dög" }) +
  chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "look", arguments: '{"a"' } }] }) +
  chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }) +
  chunk({}, "tool_calls") +
  "data: [DONE]\n\n";

/** Cut after every seventh byte: events and characters are torn. */
function answerInPieces(call: ScriptedCall, text: string): void {
  call.stream();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) void call.send(bytes.subarray(at, at + 7));
  call.end();
}

async function chatOnly(options: GivenOptions = {}): Promise<Site> {
  const world = await site(options);
  world.backend.script = (call) => {
    if (call.call.endpoint === "/v1/responses") call.answer(NOT_FOUND, 404);
    else if (call.call.stream) answerInPieces(call, CHUNKS);
    else call.answer(COMPLETION);
  };
  return world;
}

const endpoints = (world: Site): string[] => world.backend.calls.map(({ call }) => call.endpoint.slice("/v1/".length));
const spec = (responses: "native" | "chat") => ({ specs: [modelSpec(MODEL, ["chat"], { responses })] });

describe("an engine without a Responses endpoint", () => {
  it("is asked once for one, and from then on for chat completions, whose answer is a response", async () => {
    const world = await chatOnly();
    const asked = { ...INPUT, instructions: "be kind", max_output_tokens: 9 };
    const first = await world.wait(world.client.responses.create(asked));
    await quiet(world);
    const second = await world.wait(world.client.responses.create(asked));
    await quiet(world);

    expect(endpoints(world)).toEqual(["responses", "chat/completions", "chat/completions"]);
    expect(JSON.parse((await world.backend.calls[2]?.body)?.toString() ?? "")).toEqual({
      model: "chat",
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: "hello" },
      ],
      max_tokens: 9,
    });
    for (const { id } of [first, second]) {
      expect(await world.wait(world.client.responses.retrieve(id))).toMatchObject({
        ...{ id, status: "completed", output_text: "hello there", instructions: "be kind", background: true },
        usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      });
    }
  });

  it("streams through the client's own helper, text and calls, live and replayed", async () => {
    const world = await chatOnly();
    const live = world.client.responses.stream({ ...INPUT, stream: true, tools: TOOLS });
    const types: string[] = [];
    live.on("event", ({ type }) => void types.push(type));

    const made = await world.wait(live.finalResponse());
    const again = await world.wait(world.client.responses.stream({ response_id: made.id }).finalResponse());

    expect(made.output).toMatchObject([
      { type: "message", content: [{ type: "output_text", text: "hello dög" }] },
      { type: "function_call", call_id: "c1", name: "look", arguments: '{"a":1}' },
    ]);
    expect(again.output).toEqual(made.output);
    expect(types.slice(0, 3)).toEqual(["response.created", "response.queued", "response.in_progress"]);
    expect(types.at(-1)).toBe("response.completed");
  });

  it("refuses what it cannot be asked by its name: in the response while that is not known, then at once", async () => {
    const world = await chatOnly();
    const asked = { ...INPUT, tools: [{ type: "web_search" as const }] };
    const first = await world.wait(world.client.responses.create(asked));
    await quiet(world);
    const failed = await world.wait(world.client.responses.retrieve(first.id));

    const error = await world.wait(world.client.responses.create(asked).then(undefined, (reason: unknown) => reason));

    expect(failed.status).toBe("failed");
    expect(failed.error).toMatchObject({ code: "invalid_prompt", message: expect.stringContaining('"tools[0].type"') });
    expect(error).toMatchObject({ status: 400, code: "invalid_body", param: "tools[0].type" });
    expect(endpoints(world)).toEqual(["responses"]);
  });

  it("that has no chat completions either gives its own refusal, and nothing is learned", async () => {
    const world = await site();
    world.backend.script = (call) => call.answer(NOT_FOUND, 404);
    const ids = [];
    for (let i = 0; i < 2; i++) {
      ids.push((await world.wait(world.client.responses.create(INPUT))).id);
      await quiet(world);
    }

    expect(endpoints(world)).toEqual(["responses", "chat/completions", "responses", "chat/completions"]);
    expect(await world.wait(world.client.responses.retrieve(ids[1] ?? ""))).toMatchObject({
      status: "failed",
      error: { code: "invalid_prompt", message: "Not Found" },
    });
  });

  it("whose chat completion is none is a failure that is tried again", async () => {
    const world = await site(spec("chat"));
    world.backend.script = (call) => call.answer("[]");
    const { id } = await world.wait(world.client.responses.create(INPUT));
    await passes(world, 30_000);

    expect(world.backend.calls).toHaveLength(3);
    expect((await world.wait(world.client.responses.retrieve(id))).error?.code).toBe("server_error");
  });

  it("with a request of megabytes is asked the same", async () => {
    const world = await chatOnly(spec("chat"));
    const input = "x".repeat(1_500_000);
    const { id } = await world.client.responses.create({ ...INPUT, input });
    while (world.backend.calls.length < 1) {
      await quiet(world);
      await new Promise(setImmediate);
    }
    await quiet(world);

    expect((await world.backend.calls[0]?.body)?.toString()).toContain(input);
    expect((await world.client.responses.retrieve(id)).output_text).toBe("hello there");
  });
});

describe("the switch", () => {
  it("chat never asks for a Responses endpoint, and refuses at once", async () => {
    const world = await chatOnly(spec("chat"));
    await world.wait(world.client.responses.create(INPUT));
    await quiet(world);
    const asked = { ...INPUT, truncation: "auto" as const };
    const error = await world.wait(world.client.responses.create(asked).then(undefined, (reason: unknown) => reason));

    expect(endpoints(world)).toEqual(["chat/completions"]);
    expect(error).toMatchObject({ status: 400, param: "truncation" });
  });

  it("native never asks for chat completions", async () => {
    const world = await chatOnly(spec("native"));
    const { id } = await world.wait(world.client.responses.create(INPUT));
    await quiet(world);

    expect(endpoints(world)).toEqual(["responses"]);
    expect((await world.wait(world.client.responses.retrieve(id))).status).toBe("failed");
  });
});

it("a 404 about the model or an earlier response is the engine's answer, not a missing endpoint", async () => {
  const world = await site();
  world.backend.script = (call) => call.answer('{"error":{"message":"The model `m` does not exist."}}', 404);
  await world.wait(world.client.responses.create(INPUT));
  await quiet(world);

  expect(endpoints(world)).toEqual(["responses"]);
});

it("a synchronous response is never translated", async () => {
  const world = await site();
  world.backend.script = (call) => call.answer(NOT_FOUND, 404);

  const asked = world.client.responses.create({ model: "chat", input: "hello" });
  const error = await world.wait(asked.then(undefined, (reason: unknown) => reason));

  expect(error).toMatchObject({ status: 404 });
  expect(endpoints(world)).toEqual(["responses"]);
});

it("an engine with a Responses endpoint answers for itself", async () => {
  const world = await site();
  world.backend.script = (call) => call.answer(engineResponse());
  await world.wait(world.client.responses.create(INPUT));
  await quiet(world);

  expect(endpoints(world)).toEqual(["responses"]);
});
