// What a response says of its own request, from the first moment on: OpenAI's clients require these keys to be there.

import { isRecord, type Json } from "./json.ts";

/** Keys of a response that repeat its request, with what stands there when the request is silent. */
const ECHOED: Readonly<Record<string, unknown>> = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
};

/** A response without an answer: every required key, and `status` to be said by the caller. */
export function echoOf(request: Json): Json {
  const echo: Record<string, unknown> = {
    object: "response",
    error: null,
    incomplete_details: null,
    model: request["model"] ?? "",
    output: [],
    store: true,
    usage: null,
  };
  for (const [name, silent] of Object.entries(ECHOED)) echo[name] = request[name] ?? silent;
  return echo;
}

/**
 * The engine's own response under what the router knows better: its id, when it was made, that it runs in the background.
 * Keys that the engine left out are there all the same.
 */
export function owned(echo: Json, response: Json, facts: { readonly id: string; readonly createdAt: number }): Json {
  const { id, createdAt } = facts;
  const metadata = isRecord(echo["metadata"]) ? echo["metadata"] : {};
  return {
    ...echo,
    ...response,
    id,
    object: "response",
    created_at: createdAt,
    background: true,
    metadata,
    store: true,
  };
}
