// Triton's OpenAI frontend drops `response_format` without a word, and answers as if it had not been asked for. A body
// that has it is refused, before the frontend has seen a whole request.

import type { Call } from "../backend.ts";
import type { Screened } from "../model-server/dialect.ts";
import { TopLevelKey } from "./top-level-key.ts";

/** Bodies up to here are read to their end before anything is sent. */
const READ_AHEAD_BYTES = 1024 * 1024;
const SCREENED = new Set(["/v1/chat/completions", "/v1/completions"]);

const REFUSAL = {
  error: {
    message:
      "This model runs behind Triton's OpenAI frontend, which drops response_format and would answer without it. Leave response_format out, or use a model on another engine.",
    type: "invalid_request_error",
    param: "response_format",
    code: "engine_incompatible",
  },
};

/**
 * A longer body is looked at while it is sent, one piece behind: with `response_format` in it the last piece is never
 * sent, so that the frontend gets no whole request.
 */
export async function screenResponseFormat(call: Call): Promise<Screened> {
  if (!SCREENED.has(call.endpoint) || !/^application\/json\b/i.test(call.contentType)) {
    return { call, refusal: () => null };
  }
  const seen = new TopLevelKey("response_format");
  const pieces = call.body()[Symbol.asyncIterator]();
  const ahead: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  while (!ended && bytes <= READ_AHEAD_BYTES) {
    const { value, done } = await pieces.next();
    ended = done === true;
    if (ended) break;
    seen.push(value);
    ahead.push(value);
    bytes += value.byteLength;
  }
  const refused = (): boolean => ended && asksForFormat(seen.value);
  async function* body(): AsyncGenerator<Uint8Array> {
    let held: Uint8Array | null = null;
    for (const piece of ahead) {
      if (held !== null) yield held;
      held = piece;
    }
    while (!ended) {
      const { value, done } = await pieces.next();
      ended = done === true;
      if (ended) break;
      seen.push(value);
      if (held !== null) yield held;
      held = value;
    }
    if (refused()) throw new Error("it asks for a response format");
    if (held !== null) yield held;
  }
  return { call: { ...call, body }, refusal: () => (refused() ? REFUSAL : null) };
}

/** `null` and plain text are what the frontend does anyway. */
function asksForFormat(value: string | null): boolean {
  if (value === null || value === "null") return false;
  return !/^\{\s*"type"\s*:\s*"text"\s*\}$/.test(value);
}
