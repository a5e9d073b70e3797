// The watch on a 2xx answer: terminators, errors inside, and bytes cut anywhere.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { watchAnswer } from "../../src/backends/stream-end.ts";

const CHAT = "/v1/chat/completions";
const SSE = "text/event-stream; charset=utf-8";

function verdictOf(endpoint: string, contentType: string, text: string, cuts: readonly number[] = []): string | null {
  const bytes = Buffer.from(text);
  const watch = watchAnswer(endpoint, contentType);
  let from = 0;
  for (const cut of [...cuts, bytes.length].map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b)) {
    watch.push(bytes.subarray(from, cut));
    from = cut;
  }
  return watch.verdict();
}

const chunk = `data: {"id":"c","choices":[{"delta":{"content":"dög \\"error\\": {} [DONE]"}}]}\n\n`;

describe("a stream's end", () => {
  it.each<[string, string, string, "good" | "missing" | "error"]>([
    ["chat with [DONE]", CHAT, `${chunk}data: [DONE]\n\n`, "good"],
    ["without a space", CHAT, `${chunk}data:[DONE]\n\n`, "good"],
    ["no newline after it", CHAT, `${chunk}data: [DONE]`, "good"],
    ["a byte order mark first", CHAT, "\uFEFFdata: [DONE]\n\n", "good"],
    ["completions", "/v1/completions", "data: [DONE]\n\n", "good"],
    ["cut before it", CHAT, chunk, "missing"],
    ["nothing at all", CHAT, "", "missing"],
    ["in a token's text only", CHAT, `data: {"x":"data: [DONE]"}\n\n`, "missing"],
    ["as a comment only", CHAT, ": data: [DONE]\n\n", "missing"],
    ["as an event's name only", CHAT, "event: [DONE]\n\n", "missing"],
    ["an error, then [DONE]", CHAT, `data: {"error":{"message":"x"}}\n\ndata: [DONE]\n\n`, "error"],
    ["an error with spaces", CHAT, `data:  { "error" : "x"}\n\ndata: [DONE]\n\n`, "error"],
    ["error null", CHAT, `data: {"error":null,"choices":[]}\n\ndata: {"error" : null}\n\ndata: [DONE]\n\n`, "good"],
    ["an event named error", CHAT, `event: error\ndata: {"message":"x"}\n\ndata: [DONE]\n\n`, "error"],
    ["an event named errors", CHAT, `event: errors\ndata: {}\n\ndata: [DONE]\n\n`, "good"],
    ["response.completed", "/v1/responses", `event: response.completed\ndata: {}\n\n`, "good"],
    ["response.incomplete", "/v1/responses", `event: response.incomplete\ndata: {}\n\n`, "good"],
    ["response.failed", "/v1/responses", `event: response.failed\ndata: {}\n\n`, "good"],
    ["by its type alone", "/v1/responses", `data: {"type":"response.completed"}\n\n`, "good"],
    ["only begun", "/v1/responses", `event: response.created\ndata: {"type":"response.created"}\n\n`, "missing"],
    ["[DONE] alone ends no response", "/v1/responses", "data: [DONE]\n\n", "missing"],
    ["an endpoint without an agreed end", "/v1/audio/speech", "data: {}\n\n", "good"],
    ["an error there", "/v1/audio/speech", `data: {"error":{}}\n\n`, "error"],
  ])("%s", (_name, endpoint, text, expected) => {
    const words = {
      good: null,
      missing: expect.stringContaining("without its terminator"),
      error: expect.stringContaining("error inside"),
    };
    for (const ending of ["\n", "\r\n", "\r"]) {
      expect(verdictOf(endpoint, SSE, text.replaceAll("\n", ending))).toEqual(words[expected]);
    }
  });

  it("is seen alike wherever the bytes are cut", () => {
    const texts = [
      `${chunk}data: [DONE]\r\n\r\n`,
      chunk,
      `${chunk}event: error\ndata: {}\n\n`,
      `: ping\n\ndata: {"error": {"message":"é"}}\n\n`,
      `data: {"error": null}\n\ndata: [DONE]\n\n`,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(fc.nat(200), { maxLength: 40 }), (text, cuts) => {
        expect(verdictOf(CHAT, SSE, text, cuts)).toEqual(verdictOf(CHAT, SSE, text));
      }),
    );
  });

  it("is found after lines of any length", () => {
    const long = `data: {"x":"${"y".repeat(1_000_000)}"}\n\n`;

    expect(verdictOf(CHAT, SSE, `${long}data: [DONE]\n\n`, [100, 300_000])).toBeNull();
    expect(verdictOf(CHAT, SSE, long, [100, 300_000])).not.toBeNull();
  });
});

describe("an answer in one piece", () => {
  it.each<[string, string, string, boolean]>([
    ["an error first", "application/json", ` {\n "error" : {"message":"x"}}`, true],
    ["an error as text", "application/vnd.x+json; charset=utf-8", `{"error":"x"}`, true],
    ["error null first", "application/json", `{"error":null,"id":"x"}`, false],
    ["an error further on", "application/json", `{"id":"resp_1","error":{"code":"x"}}`, false],
    ["a key that begins like it", "application/json", `{"errors":[1]}`, false],
    ["an array", "application/json", `[{"error":{}}]`, false],
    ["not JSON by its type", "text/plain", `{"error":{}}`, false],
    ["no bytes", "application/json", "", false],
  ])("%s", (_name, contentType, text, wrong) => {
    for (const cuts of [[], [1, 2, 3, 5, 8, 13]]) {
      expect(verdictOf("/v1/responses", contentType, text, cuts) !== null).toBe(wrong);
    }
  });
});
