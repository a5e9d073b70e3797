// The Responses API in OpenAI's shape, with its streaming events in their order.

import type { Generation } from "./generation.ts";
import { type Label, type Plan, refusal, type StreamPlan, typed, whole } from "./plan.ts";
import type { MockRequest } from "./request.ts";

export function responses(request: MockRequest, generation: Generation, label: Label): Plan {
  if (request.json !== null && request.json["input"] === undefined) {
    return refusal(400, "you must provide an input", "input");
  }
  if (request.stream) return streamed(request, generation, label);
  return whole(generation.tokens, () => response(request, generation, label, finalStatus(generation)));
}

type Status = "in_progress" | "completed" | "incomplete";

function finalStatus(generation: Generation): Status {
  return generation.capped && generation.tool === null ? "incomplete" : "completed";
}

function response(request: MockRequest, generation: Generation, label: Label, status: Status): object {
  const done = status !== "in_progress";
  const json = request.json ?? {};
  return {
    id: `resp_${label.id}`,
    object: "response",
    created_at: label.createdAtSeconds,
    status,
    error: null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: json["instructions"] ?? null,
    max_output_tokens: request.maxTokens,
    metadata: json["metadata"] ?? {},
    model: request.model,
    output: done ? [outputItem(generation, label, status)] : [],
    parallel_tool_calls: true,
    temperature: json["temperature"] ?? 1,
    text: json["text"] ?? { format: { type: "text" } },
    tool_choice: json["tool_choice"] ?? "auto",
    tools: json["tools"] ?? [],
    top_p: json["top_p"] ?? 1,
    usage: done
      ? {
          input_tokens: request.promptTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: generation.tokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: request.promptTokens + generation.tokens,
        }
      : null,
  };
}

function outputItem(generation: Generation, label: Label, status: Status): object {
  const done = status !== "in_progress";
  const { tool } = generation;
  if (tool !== null) {
    const argumentsText = done ? generation.text() : "";
    return {
      id: `fc_${label.id}`,
      type: "function_call",
      status,
      call_id: `call_${label.id}`,
      name: tool.name,
      arguments: argumentsText,
    };
  }
  const content = done ? [textPart(generation.text())] : [];
  return { id: `msg_${label.id}`, type: "message", status, role: "assistant", content };
}

function textPart(text: string): object {
  return { type: "output_text", text, annotations: [] };
}

function streamed(request: MockRequest, generation: Generation, label: Label): StreamPlan {
  const { tool, tokens } = generation;
  const status = finalStatus(generation);
  const item = tool === null ? `msg_${label.id}` : `fc_${label.id}`;
  const at = { item_id: item, output_index: 0 };
  const part = { ...at, content_index: 0 };
  const event = (sequence: number, type: string, fields: object): string =>
    typed({ type, sequence_number: sequence, ...fields });
  const started = response(request, generation, label, "in_progress");
  const opening = [
    event(0, "response.created", { response: started }),
    event(1, "response.in_progress", { response: started }),
    event(2, "response.output_item.added", { output_index: 0, item: outputItem(generation, label, "in_progress") }),
  ];
  if (tool === null) opening.push(event(3, "response.content_part.added", { ...part, part: textPart("") }));
  const first = opening.length;
  const next = first + tokens;
  const text = generation.text();
  const ended = { output_index: 0, item: outputItem(generation, label, status) };
  const closing =
    tool === null
      ? [
          event(next, "response.output_text.done", { ...part, text, logprobs: [] }),
          event(next + 1, "response.content_part.done", { ...part, part: textPart(text) }),
          event(next + 2, "response.output_item.done", ended),
        ]
      : [
          event(next, "response.function_call_arguments.done", { ...at, name: tool.name, arguments: text }),
          event(next + 1, "response.output_item.done", ended),
        ];
  const final = { response: response(request, generation, label, status) };
  return {
    kind: "stream",
    tokens,
    open: opening.join(""),
    token: (index) =>
      tool === null
        ? event(first + index, "response.output_text.delta", { ...part, delta: generation.piece(index), logprobs: [] })
        : event(first + index, "response.function_call_arguments.delta", { ...at, delta: generation.piece(index) }),
    close: closing.join(""),
    terminator: event(next + closing.length, `response.${status}`, final),
  };
}
