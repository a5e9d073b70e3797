// How a background response ended, as its engine has it: an answer of 200 may still say that it is incomplete or failed.

import type { Result } from "../store.ts";

const EVENT_LINE = /^event: ?response\.(completed|incomplete|failed)\r?$/gm;
const EVENT_TYPE = /"type"\s*:\s*"response\.(completed|incomplete|failed)"/g;

/** Of a job that succeeded. */
export function responseEnd({ headers, body }: Result): "completed" | "incomplete" | "failed" {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
  const streamed = (headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
  const said = streamed ? (lastOf(EVENT_LINE, text) ?? lastOf(EVENT_TYPE, text)) : statusIn(text);
  return said === "incomplete" || said === "failed" ? said : "completed";
}

function lastOf(pattern: RegExp, text: string): string | null {
  let last: string | null = null;
  for (const [, word = ""] of text.matchAll(pattern)) last = word;
  return last;
}

function statusIn(text: string): unknown {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null && "status" in answer ? answer.status : null;
  } catch {
    return null;
  }
}
