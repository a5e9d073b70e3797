// From a Responses request to the chat completion that asks the same, and a name for everything that cannot be asked.

import { describe, expect, it } from "vitest";
import { Untranslatable } from "../../src/responses/fault.ts";
import { toChat } from "../../src/responses/to-chat.ts";

const ask = (more: Record<string, unknown>) => toChat({ model: "m", input: "hello", ...more });

function refusal(more: Record<string, unknown>): string | null {
  try {
    ask(more);
    return null;
  } catch (error) {
    return error instanceof Untranslatable ? error.param : String(error);
  }
}

describe("a request", () => {
  it("of plain text is one user's message, and instructions come before it", () => {
    expect(ask({ instructions: "be kind" })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: "hello" },
      ],
    });
  });

  it("keeps every turn: text in parts, images, calls of one turn together, and their results", () => {
    const { messages } = ask({
      input: [
        {
          role: "developer",
          content: [
            { type: "input_text", text: "be " },
            { type: "input_text", text: "kind" },
          ],
        },
        {
          role: "user",
          content: [
            { type: "input_text", text: "what is it?" },
            { type: "input_image", image_url: "data:image/png;base64,AA", detail: "low" },
          ],
        },
        { type: "reasoning", id: "rs_1", summary: [] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "let me see", annotations: [] }] },
        { type: "function_call", call_id: "c1", name: "look", arguments: '{"a":1}' },
        { type: "function_call", call_id: "c2", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "a cat" },
        { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "a dog" }] },
        { role: "user", content: [{ type: "input_text", text: "well?" }] },
      ],
    });

    expect(messages).toEqual([
      { role: "system", content: "be kind" },
      {
        role: "user",
        content: [
          { type: "text", text: "what is it?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } },
        ],
      },
      {
        role: "assistant",
        content: "let me see",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "look", arguments: '{"a":1}' } },
          { id: "c2", type: "function", function: { name: "look", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "a cat" },
      { role: "tool", tool_call_id: "c2", content: "a dog" },
      { role: "user", content: "well?" },
    ]);
  });

  it("keeps tools, their choice, the shape of the answer, limits and the engine's own members", () => {
    const schema = { type: "object", properties: {} };
    const chat = ask({
      tools: [{ type: "function", name: "look", description: "looks", parameters: schema, strict: true }],
      tool_choice: { type: "function", name: "look" },
      text: { format: { type: "json_schema", name: "shape", schema, strict: true }, verbosity: "medium" },
      reasoning: { effort: "low", summary: null },
      ...{ max_output_tokens: 7, temperature: 0.5, top_p: 0.9, parallel_tool_calls: false, top_k: 3 },
      ...{ stream: true, background: true, store: true, metadata: { a: "b" }, truncation: "disabled", include: [] },
    });

    expect(chat).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hello" }],
      tools: [{ type: "function", function: { name: "look", description: "looks", parameters: schema, strict: true } }],
      tool_choice: { type: "function", function: { name: "look" } },
      response_format: { type: "json_schema", json_schema: { name: "shape", schema, strict: true } },
      reasoning_effort: "low",
      ...{ max_tokens: 7, temperature: 0.5, top_p: 0.9, parallel_tool_calls: false, top_k: 3 },
      ...{ stream: true, stream_options: { include_usage: true } },
    });
  });

  it.each([
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["prompt", { prompt: { id: "p" } }],
    ["max_tool_calls", { max_tool_calls: 1 }],
    ["include", { include: ["reasoning.encrypted_content"] }],
    ["truncation", { truncation: "auto" }],
    ["top_logprobs", { top_logprobs: 2 }],
    ["reasoning.summary", { reasoning: { summary: "auto" } }],
    ["text.verbosity", { text: { verbosity: "low" } }],
    ["text.format.type", { text: { format: { type: "grammar" } } }],
    ["tools[1].type", { tools: [{ type: "function", name: "f" }, { type: "web_search" }] }],
    ["tool_choice.type", { tool_choice: { type: "mcp" } }],
    ["instructions", { instructions: [] }],
    ["input", { input: 7 }],
    ["input[0].type", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["input[0].role", { input: [{ role: "tool", content: "a" }] }],
    [
      "input[0].content[1].type",
      { input: [{ role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_file" }] }] },
    ],
    ["input[0].content[0].file_id", { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] }],
    ["input[0].output[0].type", { input: [{ type: "function_call_output", output: [{ type: "input_image" }] }] }],
  ])("is refused by the name %s", (param, more) => {
    expect(refusal(more)).toBe(param);
  });

  it("loses nothing to null, which stands for absent", () => {
    expect(refusal({ previous_response_id: null, prompt: null, reasoning: null, tools: null, text: null })).toBeNull();
  });
});
