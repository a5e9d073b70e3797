// The endpoints that generate no tokens: embeddings, rerank, score, moderations, tokenize. Numbers follow from the text
// alone, so that equal inputs get equal answers.

import { usageOf } from "./chat.ts";
import { type Label, type Plan, refusal, whole } from "./plan.ts";
import { isRecord, type MockRequest } from "./request.ts";

const DEFAULT_DIMENSIONS = 16;
const MAX_DIMENSIONS = 4096;
const MAX_INPUTS = 2048;

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** 0..1, four decimals. */
function grade(text: string): number {
  return Math.round((hash(text) / 0xffffffff) * 10_000) / 10_000;
}

/** A unit vector of float32 values. */
function vector(text: string, dimensions: number): Float32Array {
  const values = new Float32Array(dimensions);
  let state = hash(text) || 1;
  let sum = 0;
  for (let i = 0; i < dimensions; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const value = (state >>> 0) / 0xffffffff - 0.5;
    values[i] = value;
    sum += value * value;
  }
  const length = Math.sqrt(sum) || 1;
  return values.map((value) => value / length);
}

/** A text, a list of texts, one list of token numbers, or a list of such lists; null when it is none of these. */
function inputsOf(input: unknown): readonly string[] | null {
  if (typeof input === "string") return [input];
  if (!Array.isArray(input) || input.length === 0) return null;
  if (input.every((entry) => typeof entry === "number")) return [input.join(" ")];
  if (input.every((entry) => typeof entry === "string")) return input;
  return input.every(Array.isArray) ? input.map((entry) => entry.join(" ")) : null;
}

export function embeddings(request: MockRequest): Plan {
  const json = request.json ?? { input: "" };
  const inputs = inputsOf(json["input"]);
  if (inputs === null) return refusal(400, "input must be a string or a non-empty array of strings or tokens", "input");
  if (inputs.length > MAX_INPUTS) return refusal(400, `input must have at most ${MAX_INPUTS} entries`, "input");
  const dimensions = json["dimensions"] ?? DEFAULT_DIMENSIONS;
  if (!(Number.isInteger(dimensions) && Number(dimensions) >= 1 && Number(dimensions) <= MAX_DIMENSIONS)) {
    return refusal(400, `dimensions must be an integer from 1 to ${MAX_DIMENSIONS}`, "dimensions");
  }
  const base64 = json["encoding_format"] === "base64";
  const encode = (values: Float32Array): unknown =>
    base64 ? Buffer.from(values.buffer).toString("base64") : Array.from(values);
  return whole(0, () => ({
    object: "list",
    data: inputs.map((text, index) => ({
      object: "embedding",
      index,
      embedding: encode(vector(text, Number(dimensions))),
    })),
    model: request.model,
    usage: { prompt_tokens: request.promptTokens, total_tokens: request.promptTokens },
  }));
}

/** A document is a text or `{text}`. */
function textOf(document: unknown): string {
  if (typeof document === "string") return document;
  const text = isRecord(document) ? document["text"] : null;
  return typeof text === "string" ? text : JSON.stringify(document);
}

export function rerank(request: MockRequest, label: Label): Plan {
  const json = request.json ?? { query: "", documents: [""] };
  const { query, documents, top_n: top } = json;
  if (typeof query !== "string") return refusal(400, "query must be a string", "query");
  if (!Array.isArray(documents) || documents.length === 0) {
    return refusal(400, "documents must be a non-empty array", "documents");
  }
  const results = documents
    .map((document, index) => ({
      index,
      document: { text: textOf(document) },
      relevance_score: grade(`${query}\n${textOf(document)}`),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  return whole(0, () => ({
    id: `rerank-${label.id}`,
    model: request.model,
    results: Number.isInteger(top) && Number(top) > 0 ? results.slice(0, Number(top)) : results,
    usage: { total_tokens: request.promptTokens },
  }));
}

/** vLLM's cross-encoder scores: one text against one or several. */
export function score(request: MockRequest, label: Label): Plan {
  const json = request.json ?? { text_1: "", text_2: "" };
  const left = inputsOf(json["text_1"]);
  const right = inputsOf(json["text_2"]);
  if (left === null) return refusal(400, "text_1 must be a string or an array of strings", "text_1");
  if (right === null) return refusal(400, "text_2 must be a string or an array of strings", "text_2");
  return whole(0, () => ({
    id: `score-${label.id}`,
    object: "list",
    created: label.createdAtSeconds,
    model: request.model,
    data: right.map((text, index) => ({
      index,
      object: "score",
      score: grade(`${left[left.length === right.length ? index : 0]}\n${text}`),
    })),
    usage: usageOf(request.promptTokens, 0),
  }));
}

const CATEGORIES = ["harassment", "hate", "illicit", "self-harm", "sexual", "violence"];

export function moderations(request: MockRequest, label: Label): Plan {
  const json = request.json ?? { input: "" };
  const given = json["input"];
  const inputs = inputsOf(given) ?? (Array.isArray(given) && given.length > 0 ? [JSON.stringify(given)] : null);
  if (inputs === null) return refusal(400, "input must be a string or a non-empty array", "input");
  return whole(0, () => ({
    id: `modr-${label.id}`,
    model: request.model,
    results: inputs.map(() => ({
      flagged: false,
      categories: Object.fromEntries(CATEGORIES.map((name) => [name, false])),
      category_scores: Object.fromEntries(CATEGORIES.map((name) => [name, 0])),
    })),
  }));
}

/** vLLM's: of `prompt`, or of `messages` as text. One token a word. */
export function tokenize(request: MockRequest): Plan {
  const json = request.json ?? { prompt: "" };
  const text = json["prompt"] ?? (Array.isArray(json["messages"]) ? JSON.stringify(json["messages"]) : null);
  if (typeof text !== "string") return refusal(400, "you must provide a prompt or messages", "prompt");
  return whole(0, () => {
    const tokens = text.match(/\S+/g)?.map((word) => hash(word) % 150_000) ?? [];
    return { count: tokens.length, max_model_len: 131_072, tokens, token_strs: null };
  });
}
