// How many tokens a stored answer says that it took: nothing else of it is looked at.

import type { Usage } from "./job-trace.ts";

/** Longer answers are not parsed for two numbers. */
const LONGEST_BYTES = 256 * 1024;

/** OpenAI's, Anthropic's and Responses' spelling; null: it says nothing, or is no JSON object. */
export function usageIn(body: Uint8Array): Usage | null {
  if (body.byteLength === 0 || body.byteLength > LONGEST_BYTES || body[0] !== 0x7b) return null;
  try {
    const { usage } = JSON.parse(Buffer.from(body).toString("utf8")) as { readonly usage?: unknown };
    if (typeof usage !== "object" || usage === null) return null;
    const said = usage as Readonly<Record<string, unknown>>;
    const inputTokens = countOf(said["prompt_tokens"] ?? said["input_tokens"]);
    const outputTokens = countOf(said["completion_tokens"] ?? said["output_tokens"]);
    return { inputTokens, outputTokens };
  } catch {
    return null;
  }
}

const countOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
