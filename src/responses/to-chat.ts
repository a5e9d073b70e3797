// A Responses request as the chat completion that asks the same, for engines that have no Responses endpoint. What has no
// counterpart is refused by the name of its field; nothing that would change the answer is dropped in silence.

import { refuse } from "./fault.ts";
import { messagesOf } from "./input-to-chat.ts";
import { isRecord, type Json } from "./json.ts";

const NO_COUNTERPART = "has no counterpart in chat completions, which is all that this model's engine has.";

/** Hints to caches and bills, and what the router itself carries out: the answer does not depend on them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["background", "store", "metadata", "service_tier", "stream", "stream_options", "input", "instructions", "model"],
  ...["safety_identifier", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"],
]);

type Translate = (value: unknown, chat: Record<string, unknown>) => void;

const TRANSLATED: Readonly<Record<string, Translate>> = {
  max_output_tokens: (value, chat) => {
    chat["max_tokens"] = value;
  },
  text: translateText,
  reasoning: translateReasoning,
  tools: (value, chat) => {
    if (!Array.isArray(value)) refuse("tools", "must be an array.");
    if (value.length > 0) chat["tools"] = value.map(toolOf);
  },
  tool_choice: (value, chat) => {
    chat["tool_choice"] = toolChoiceOf(value);
  },
  include: (value) => {
    if (Array.isArray(value) && value.length > 0) refuse("include", NO_COUNTERPART);
  },
  truncation: (value) => {
    if (value !== "disabled") refuse("truncation", `${NO_COUNTERPART} Only "disabled" is.`);
  },
  top_logprobs: (value) => {
    if (value !== 0) refuse("top_logprobs", NO_COUNTERPART);
  },
};

const REFUSED: ReadonlySet<string> = new Set([
  ...["previous_response_id", "conversation", "prompt", "context_management", "moderation", "max_tool_calls"],
]);

/**
 * The body of the chat completion. Members that Responses does not know go on as they are: they are the engine's own.
 * @throws {Untranslatable}
 */
export function toChat(request: Json): Json {
  const chat: Record<string, unknown> = { model: request["model"], messages: messagesOf(request) };
  for (const [name, value] of Object.entries(request)) {
    if (value === null || LEFT_OUT.has(name)) continue;
    if (REFUSED.has(name)) refuse(name, NO_COUNTERPART);
    const translate = TRANSLATED[name];
    if (translate === undefined) chat[name] = value;
    else translate(value, chat);
  }
  if (request["stream"] === true) {
    chat["stream"] = true;
    chat["stream_options"] = { include_usage: true };
  }
  return chat;
}

function translateText(value: unknown, chat: Record<string, unknown>): void {
  if (!isRecord(value)) refuse("text", "must be an object.");
  const { format, verbosity } = value;
  if (verbosity !== undefined && verbosity !== null && verbosity !== "medium") refuse("text.verbosity", NO_COUNTERPART);
  if (!isRecord(format) || format["type"] === "text") return;
  if (format["type"] === "json_object") chat["response_format"] = { type: "json_object" };
  else if (format["type"] === "json_schema") {
    const { type, ...schema } = format;
    chat["response_format"] = { type, json_schema: schema };
  } else refuse("text.format.type", NO_COUNTERPART);
}

function translateReasoning(value: unknown, chat: Record<string, unknown>): void {
  if (!isRecord(value)) refuse("reasoning", "must be an object.");
  for (const [name, part] of Object.entries(value)) {
    if (part === null) continue;
    if (name === "effort") chat["reasoning_effort"] = part;
    else refuse(`reasoning.${name}`, NO_COUNTERPART);
  }
}

function toolOf(tool: unknown, i: number): Json {
  const path = `tools[${i}]`;
  if (!isRecord(tool)) refuse(path, "must be an object.");
  if (tool["type"] !== "function") refuse(`${path}.type`, `${NO_COUNTERPART} Only "function" tools are.`);
  const { type, ...spec } = tool;
  return { type, function: spec };
}

function toolChoiceOf(choice: unknown): unknown {
  if (typeof choice === "string") return choice;
  if (!isRecord(choice) || choice["type"] !== "function") refuse("tool_choice.type", NO_COUNTERPART);
  return { type: "function", function: { name: choice["name"] } };
}
