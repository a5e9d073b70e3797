// From a chat completion to the response that says the same: whole, and event by event to the same end.

import { describe, expect, it } from "vitest";
import { ChatEvents } from "../../src/responses/chat-events.ts";
import { fromChat } from "../../src/responses/from-chat.ts";
import type { Json } from "../../src/responses/json.ts";

const REQUEST = { model: "chat", instructions: "be kind", metadata: { a: "b" } };
const USAGE = {
  ...{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  prompt_tokens_details: { cached_tokens: 1 },
};

function completion(message: Json, finish = "stop"): Json {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }];
  return { id: "chatcmpl-ab1", object: "chat.completion", created: 5, model: "m", choices, usage: USAGE };
}

function chunks(deltas: readonly Json[], finish = "stop"): Json[] {
  const base = { id: "chatcmpl-ab1", object: "chat.completion.chunk", created: 5, model: "m" };
  const choice = (delta: Json, reason: string | null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return [...deltas.map((delta) => choice(delta, null)), choice({}, finish), { ...base, choices: [], usage: USAGE }];
}

function eventsOf(deltas: readonly Json[], finish?: string): Json[] {
  const events = new ChatEvents(REQUEST);
  return [...chunks(deltas, finish).flatMap((chunk) => events.push(chunk)), ...events.end()];
}

const CALL = { id: "c1", type: "function", function: { name: "look", arguments: '{"a":1}' } };
const CASES: readonly (readonly [string, Json, readonly Json[], string, readonly string[]])[] = [
  [
    "text",
    { content: "hello" },
    [{ role: "assistant", content: "" }, { content: "hel" }, { content: "lo" }],
    "stop",
    ["message"],
  ],
  ["text that was cut", { content: "hel" }, [{ content: "hel" }], "length", ["message"]],
  ["nothing at all", { content: "" }, [{ role: "assistant", content: "" }], "stop", ["message"]],
  ["a refusal", { content: null, refusal: "no" }, [{ refusal: "n" }, { refusal: "o" }], "stop", ["message"]],
  [
    "thoughts before text",
    { reasoning_content: "hm", content: "hello" },
    [{ reasoning_content: "hm" }, { content: "hello" }],
    "stop",
    ["reasoning", "message"],
  ],
  [
    "text and two calls",
    { content: "well", tool_calls: [CALL, { ...CALL, id: "c2" }] },
    [
      { content: "well" },
      { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "look", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] },
      { tool_calls: [{ index: 1, id: "c2", type: "function", function: { name: "look", arguments: '{"a":1}' } }] },
    ],
    "tool_calls",
    ["message", "function_call", "function_call"],
  ],
];

describe("a chat completion", () => {
  it.each(CASES)("of %s is the same response, whole and streamed", (_what, message, deltas, finish, types) => {
    const whole = fromChat(REQUEST, completion(message, finish));
    const events = eventsOf(deltas, finish);
    const last = events.at(-1) ?? {};
    const output = (whole?.["output"] ?? []) as readonly Json[];

    expect(output.map(({ type }) => type)).toEqual(types);
    expect(last["response"]).toEqual(whole);
    expect(last["type"]).toBe(finish === "length" ? "response.incomplete" : "response.completed");
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, i) => i));
    expect(events[0]?.["type"]).toBe("response.created");
    // What an accumulating client has at the end of each item is what the response says.
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    expect(done).toEqual(output);
  });

  it("says how much was used, what was asked, and why it was cut", () => {
    expect(fromChat(REQUEST, completion({ content: "hel" }, "length"))).toMatchObject({
      ...{ object: "response", status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      ...{ instructions: "be kind", metadata: { a: "b" }, model: "chat", created_at: 5, id: "resp_ab1" },
      usage: {
        ...{ input_tokens: 3, input_tokens_details: { cached_tokens: 1 }, output_tokens: 4 },
        ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 7 },
      },
    });
  });

  it("has the deltas that make its text, between the events that open and close them", () => {
    const events = eventsOf([{ content: "hel" }, { content: "lo" }]);

    expect(events.map(({ type }) => type)).toEqual([
      ...["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"],
      ...["response.output_text.delta", "response.output_text.delta", "response.output_text.done"],
      ...["response.content_part.done", "response.output_item.done", "response.completed"],
    ]);
    expect(events.flatMap(({ delta }) => delta ?? []).join("")).toBe("hello");
  });

  it("is none when there is no message in it", () => {
    expect(fromChat(REQUEST, { choices: [] })).toBeNull();
    expect(fromChat(REQUEST, { error: {} })).toBeNull();
  });
});
