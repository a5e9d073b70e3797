// Anthropic's Messages API, as vLLM serves it at /v1/messages.

import type { Generation } from "./generation.ts";
import { type Label, type Plan, refusal, typed, whole } from "./plan.ts";
import type { MockRequest } from "./request.ts";

export function messages(request: MockRequest, generation: Generation, label: Label): Plan {
  const turns = request.json?.["messages"];
  if (request.json !== null && !(Array.isArray(turns) && turns.length > 0)) {
    return refusal(400, "messages must be an array with at least one message", "messages");
  }
  const { tool, tokens } = generation;
  const base = { id: `msg_${label.id}`, type: "message", role: "assistant", model: request.model };
  const reason = tool !== null ? "tool_use" : generation.capped ? "max_tokens" : "end_turn";
  if (!request.stream) {
    return whole(tokens, () => ({
      ...base,
      content: [
        tool === null
          ? { type: "text", text: generation.text() }
          : { type: "tool_use", id: `toolu_${label.id}`, name: tool.name, input: JSON.parse(generation.text()) },
      ],
      stop_reason: reason,
      stop_sequence: null,
      usage: { input_tokens: request.promptTokens, output_tokens: tokens },
    }));
  }
  const usage = { input_tokens: request.promptTokens, output_tokens: 0 };
  const message = { ...base, content: [], stop_reason: null, stop_sequence: null, usage };
  const block =
    tool === null
      ? { type: "text", text: "" }
      : { type: "tool_use", id: `toolu_${label.id}`, name: tool.name, input: {} };
  const start = { type: "content_block_start", index: 0, content_block: block };
  const delta = (index: number): object =>
    tool === null
      ? { type: "text_delta", text: generation.piece(index) }
      : { type: "input_json_delta", partial_json: generation.piece(index) };
  const stopped = {
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: tokens },
  };
  const ended = { type: "content_block_stop", index: 0 };
  return {
    kind: "stream",
    tokens,
    open: typed({ type: "message_start", message }) + typed(start),
    token: (index) => typed({ type: "content_block_delta", index: 0, delta: delta(index) }),
    close: typed(ended) + typed(stopped),
    terminator: typed({ type: "message_stop" }),
  };
}
