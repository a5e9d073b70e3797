// What a mock engine "generates": deterministic words, one tool call when tools are offered, or JSON after a schema.

import { isRecord, type Json, type MockRequest } from "./request.ts";

// One word is not ASCII, so that a token cut inside a character is met by everyone who reads streams.
const WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dög"];
const CYCLE = WORDS.map((word) => ` ${word}`).join("");

export interface Generation {
  readonly tokens: number;
  piece(index: number): string;
  text(): string;
  /** Null: plain text. */
  readonly tool: { readonly name: string } | null;
  /** True: it ended at the caller's limit. */
  readonly capped: boolean;
}

/** @param tag Begins the text, so that a reader sees which model spoke. */
export function words(tag: string, tokens: number, capped: boolean): Generation {
  const first = `[${tag}]`;
  return {
    tokens,
    capped,
    tool: null,
    piece: (index) => (index === 0 ? first : ` ${WORDS[(index - 1) % WORDS.length]}`),
    text: () => {
      const rest = Math.max(0, tokens - 1);
      const rounds = Math.floor(rest / WORDS.length);
      const left = WORDS.slice(0, rest % WORDS.length).map((word) => ` ${word}`);
      return first + CYCLE.repeat(rounds) + left.join("");
    },
  };
}

/** Pieces of four characters. */
function pieces(text: string, tool: Generation["tool"]): Generation {
  return {
    tokens: Math.max(1, Math.ceil(text.length / 4)),
    capped: false,
    tool,
    piece: (index) => text.slice(index * 4, index * 4 + 4),
    text: () => text,
  };
}

export interface Tools {
  /** The first tool's name, or the one that `tool_choice` demands; null when no tool is to be called. */
  readonly name: string;
  readonly schema: unknown;
}

/** One tool call when tools are offered and their results are not there yet; else JSON when it is asked for; else words. */
export function generate(request: MockRequest, tag: string, defaultTokens: number): Generation {
  const json = request.json ?? {};
  const tool = chosenTool(json);
  if (tool !== null) return pieces(JSON.stringify(sample(tool.schema, 0)), { name: tool.name });
  const schema = demandedSchema(json);
  if (schema !== null) return pieces(JSON.stringify(sample(schema, 0)), null);
  return words(tag, request.maxTokens ?? defaultTokens, request.maxTokens !== null);
}

function chosenTool(json: Json): Tools | null {
  const { tools, tool_choice: choice } = json;
  if (!Array.isArray(tools) || choice === "none" || hasToolResult(json)) return null;
  const offered = tools.filter(isRecord).map((tool): Tools | null => {
    const spec = isRecord(tool["function"]) ? tool["function"] : tool;
    const name = spec["name"];
    return typeof name === "string" ? { name, schema: spec["parameters"] ?? spec["input_schema"] } : null;
  });
  const wanted = isRecord(choice) ? (isRecord(choice["function"]) ? choice["function"] : choice)["name"] : undefined;
  return offered.find((tool) => tool !== null && (wanted === undefined || tool.name === wanted)) ?? null;
}

/** A loop of an agent must end: once the last message brings a result, the answer is text. */
function hasToolResult(json: Json): boolean {
  const turns = Array.isArray(json["messages"]) ? json["messages"] : json["input"];
  const last: unknown = Array.isArray(turns) ? turns.at(-1) : null;
  if (!isRecord(last)) return false;
  if (last["role"] === "tool" || last["type"] === "function_call_output") return true;
  const content = last["content"];
  return Array.isArray(content) && content.some((part) => isRecord(part) && part["type"] === "tool_result");
}

function demandedSchema(json: Json): unknown {
  const text = json["text"];
  const format = json["response_format"] ?? (isRecord(text) ? text["format"] : null);
  if (!isRecord(format)) return null;
  if (format["type"] === "json_object") return {};
  if (format["type"] !== "json_schema") return null;
  const named = format["json_schema"];
  return (isRecord(named) ? named["schema"] : format["schema"]) ?? {};
}

const SAMPLES: Readonly<Record<string, unknown>> = { string: "mock", number: 1, integer: 1, boolean: true, null: null };

/** The smallest value of a JSON schema's shape, good enough to be parsed by a caller's tool. */
function sample(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > 8) return {};
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if ("const" in schema) return schema["const"];
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(either)) return sample(either[0], depth + 1);
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "array") return schema["items"] === undefined ? [] : [sample(schema["items"], depth + 1)];
  if (typeof type === "string" && type in SAMPLES) return SAMPLES[type];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, sample(inner, depth + 1)]));
}
