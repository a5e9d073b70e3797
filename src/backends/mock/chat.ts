// Chat completions and completions in OpenAI's shape.

import type { Generation } from "./generation.ts";
import { data, type Label, type Plan, refusal, type StreamPlan, whole } from "./plan.ts";
import { isRecord, type MockRequest } from "./request.ts";

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

export function chat(request: MockRequest, generation: Generation, label: Label): Plan {
  const messages = request.json?.["messages"];
  if (request.json !== null && !(Array.isArray(messages) && messages.length > 0)) {
    return refusal(400, "messages must be an array with at least one message", "messages");
  }
  if (request.stream) return streamedChat(request, generation, label);
  const message =
    generation.tool === null
      ? { role: "assistant", content: generation.text(), refusal: null }
      : { role: "assistant", content: null, refusal: null, tool_calls: [toolCall(generation, label)] };
  return whole(generation.tokens, () => ({
    id: `chatcmpl-${label.id}`,
    object: "chat.completion",
    created: label.createdAtSeconds,
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(generation) }],
    usage: usageOf(request.promptTokens, generation.tokens),
  }));
}

function streamedChat(request: MockRequest, generation: Generation, label: Label): StreamPlan {
  const base = {
    id: `chatcmpl-${label.id}`,
    object: "chat.completion.chunk",
    created: label.createdAtSeconds,
    model: request.model,
  };
  const chunk = (delta: unknown, finish: string | null = null): string =>
    data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const { tool } = generation;
  const started = { index: 0, id: `call_${label.id}`, type: "function", function: { name: tool?.name, arguments: "" } };
  return {
    kind: "stream",
    tokens: generation.tokens,
    open: chunk({ role: "assistant", ...(tool === null ? { content: "" } : { tool_calls: [started] }) }),
    token: (index) => {
      const piece = generation.piece(index);
      return chunk(tool === null ? { content: piece } : { tool_calls: [{ index: 0, function: { arguments: piece } }] });
    },
    close: chunk({}, finishReason(generation)) + usageChunk(request, generation, base),
    terminator: "data: [DONE]\n\n",
  };
}

export function completion(request: MockRequest, generation: Generation, label: Label): Plan {
  if (request.json !== null && request.json["prompt"] === undefined) {
    return refusal(400, "you must provide a prompt", "prompt");
  }
  const base = {
    id: `cmpl-${label.id}`,
    object: "text_completion",
    created: label.createdAtSeconds,
    model: request.model,
  };
  const choice = (text: string, finish: string | null): unknown => ({
    index: 0,
    text,
    logprobs: null,
    finish_reason: finish,
  });
  if (!request.stream) {
    return whole(generation.tokens, () => ({
      ...base,
      choices: [choice(generation.text(), finishReason(generation))],
      usage: usageOf(request.promptTokens, generation.tokens),
    }));
  }
  return {
    kind: "stream",
    tokens: generation.tokens,
    open: "",
    token: (index) => data({ ...base, choices: [choice(generation.piece(index), null)] }),
    close: data({ ...base, choices: [choice("", finishReason(generation))] }) + usageChunk(request, generation, base),
    terminator: "data: [DONE]\n\n",
  };
}

function finishReason(generation: Generation): string {
  if (generation.tool !== null) return "tool_calls";
  return generation.capped ? "length" : "stop";
}

function usageChunk(request: MockRequest, generation: Generation, base: object): string {
  const options = request.json?.["stream_options"];
  if (!isRecord(options) || options["include_usage"] !== true) return "";
  return data({ ...base, choices: [], usage: usageOf(request.promptTokens, generation.tokens) });
}

function toolCall(generation: Generation, label: Label): unknown {
  return {
    id: `call_${label.id}`,
    type: "function",
    function: { name: generation.tool?.name, arguments: generation.text() },
  };
}
