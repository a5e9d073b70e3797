// The turns of a Responses request as chat messages.

import { refuse } from "./fault.ts";
import { isRecord, type Json, textOf } from "./json.ts";

const NO_COUNTERPART = "has no counterpart in chat completions, which is all that this model's engine has.";

interface Message {
  readonly role: string;
  content: unknown;
  tool_calls?: Json[];
  tool_call_id?: unknown;
}

/** @throws {Untranslatable} */
export function messagesOf({ instructions, input }: Json): readonly Json[] {
  const messages: Message[] = [];
  if (typeof instructions === "string") messages.push({ role: "system", content: instructions });
  else if (instructions !== undefined && instructions !== null) refuse("instructions", "must be a string.");
  if (typeof input === "string") messages.push({ role: "user", content: input });
  else if (Array.isArray(input)) for (const [i, item] of input.entries()) addItem(messages, item, `input[${i}]`);
  else refuse("input", "must be a string or an array of items.");
  return messages as unknown as readonly Json[];
}

function addItem(messages: Message[], item: unknown, path: string): void {
  if (!isRecord(item)) refuse(path, "must be an object.");
  switch (item["type"] ?? "message") {
    case "message":
      messages.push(messageOf(item, path));
      return;
    case "function_call":
      addCall(messages, item);
      return;
    case "function_call_output":
      messages.push({
        role: "tool",
        tool_call_id: item["call_id"],
        content: plainText(item["output"], `${path}.output`),
      });
      return;
    case "reasoning":
      // Chat templates leave the thoughts of earlier turns out themselves.
      return;
    default:
      refuse(`${path}.type`, NO_COUNTERPART);
  }
}

const ROLES: Readonly<Record<string, string>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  // The older word, which every chat template knows.
  developer: "system",
};

function messageOf(item: Json, path: string): Message {
  const role = ROLES[textOf(item["role"])];
  if (role === undefined) refuse(`${path}.role`, "must be user, assistant, system or developer.");
  const { content } = item;
  if (role !== "user") return { role, content: plainText(content, `${path}.content`) };
  if (typeof content === "string") return { role, content };
  if (!Array.isArray(content)) refuse(`${path}.content`, "must be a string or an array of parts.");
  const parts = content.map((part, i) => partOf(part, `${path}.content[${i}]`));
  const [only] = parts;
  return { role, content: parts.length === 1 && only?.["type"] === "text" ? only["text"] : parts };
}

function partOf(part: unknown, path: string): Json {
  if (!isRecord(part)) refuse(path, "must be an object.");
  switch (part["type"]) {
    case "input_text":
    case "output_text":
      return { type: "text", text: part["text"] };
    case "input_image": {
      const { image_url: url, detail } = part;
      if (typeof url !== "string") refuse(`${path}.file_id`, `${NO_COUNTERPART} Send the image as "image_url".`);
      return { type: "image_url", image_url: { url, ...(typeof detail === "string" ? { detail } : {}) } };
    }
    case "input_audio":
      return { type: "input_audio", input_audio: part["input_audio"] };
    default:
      refuse(`${path}.type`, NO_COUNTERPART);
  }
}

/** Where chat knows text alone: several parts become one. */
function plainText(content: unknown, path: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) refuse(path, "must be a string or an array of parts.");
  return content
    .map((part: unknown, i) => {
      const record = isRecord(part) ? part : {};
      const text = record["text"] ?? record["refusal"];
      return typeof text === "string" ? text : refuse(`${path}[${i}].type`, NO_COUNTERPART);
    })
    .join("");
}

/** Calls of one turn stand in one message. */
function addCall(messages: Message[], item: Json): void {
  const call = {
    id: item["call_id"],
    type: "function",
    function: { name: item["name"], arguments: item["arguments"] },
  };
  const last = messages.at(-1);
  if (last?.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
  else messages.push({ role: "assistant", content: null, tool_calls: [call] });
}
