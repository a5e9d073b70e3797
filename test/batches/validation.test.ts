// What is wrong with an input file is told line by line.

import { describe, expect, it } from "vitest";
import { validate } from "../../src/batches/validate.ts";
import type { BatchLine } from "../../src/store/batch-verbs.ts";
import { batchScene, CHAT, jsonl, line } from "./scene.ts";

const RULES = { endpoint: CHAT, bodyLimitBytes: 10_000, maxLines: 1_000, modelOf: (name: string) => name };

/** The verdict on a text that comes in pieces of a size. */
async function verdictOn(text: string, size = 64, rules: Partial<typeof RULES> = {}) {
  const bytes = Buffer.from(text);
  const lines: BatchLine[] = [];
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const verdict = await validate(pieces(), { ...RULES, ...rules }, async (page) => {
    lines.push(...page);
    return true;
  });
  const bodies = lines.map(({ bodyStart, bodySize }) => bytes.subarray(bodyStart, bodyStart + bodySize).toString());
  return { verdict, lines, bodies };
}

const faultsOf = async (lines: readonly unknown[], rules: Partial<typeof RULES> = {}) => {
  const { verdict } = await verdictOn(jsonl(lines), 64, rules);
  return verdict.kind === "faulty"
    ? verdict.faults.map(({ line: at, code, param }) => [at, code, param])
    : verdict.kind;
};

const ok = line("ok", "chat");

describe("a fault is told with its line", () => {
  it.each([
    ["a line that is not JSON", '{"custom_id": "a", }', "invalid_json_line", null],
    ["a line that is cut short", '{"custom_id": "a"', "invalid_json_line", null],
    ["a line that is no object", "[1]", "invalid_json_line", null],
    ["no custom_id", { ...ok, custom_id: undefined }, "missing_required_parameter", "custom_id"],
    ["a custom_id that is no text", { ...ok, custom_id: 7 }, "invalid_type", "custom_id"],
    ["an empty custom_id", { ...ok, custom_id: "" }, "invalid_custom_id", "custom_id"],
    ["no method", { ...ok, method: undefined }, "missing_required_parameter", "method"],
    ["a method that is not POST", { ...ok, method: "GET" }, "invalid_method", "method"],
    ["another url than the batch's", { ...ok, url: "/v1/embeddings" }, "invalid_url", "url"],
    ["no body", { ...ok, body: undefined }, "missing_required_parameter", "body"],
    ["a body that is no object", { ...ok, body: "x" }, "invalid_type", "body"],
    ["a body without a model", { ...ok, body: { messages: [] } }, "missing_model", "body.model"],
    ["a body that asks for a stream", line("s", "chat", { stream: true }), "invalid_body", "body.stream"],
    ["a body over the limit", line("big", "chat", { pad: "x".repeat(10_000) }), "body_too_large", "body"],
  ])("%s", async (_what, faulty, code, param) => {
    const faults = await faultsOf([line("first", "chat"), faulty, line("last", "chat")]);

    expect(faults).toEqual([[2, code, param]]);
  });

  it("a custom_id that an earlier line has too", async () => {
    expect(await faultsOf([line("a", "chat"), line("b", "chat"), line("a", "code")])).toEqual([
      [3, "duplicate_custom_id", "custom_id"],
    ]);
  });

  it("several in one file, in the order of the lines, and no more than a hundred", async () => {
    const many = Array.from({ length: 300 }, () => "{");

    expect(await faultsOf(["{", line("a", "chat"), { ...ok, method: "PUT" }])).toEqual([
      [1, "invalid_json_line", null],
      [3, "invalid_method", "method"],
    ]);
    expect(await faultsOf(many)).toHaveLength(100);
  });

  it("too many lines, and none at all", async () => {
    const three = [line("a", "chat"), line("b", "chat"), line("c", "chat")];

    expect(await faultsOf(three, { maxLines: 2 })).toEqual([[3, "too_many_lines", "input_file_id"]]);
    expect(await faultsOf(three, { maxLines: 3 })).toBe("valid");
    for (const empty of ["", "\n \r\n\t\n"])
      expect(await faultsOf([empty])).toEqual([[null, "empty_file", "input_file_id"]]);
  });
});

describe("a file is read the same however it comes", () => {
  const body = '{ "model": "chat", "messages": [{"role":"user","content":"a \\"b\\" \\n {} ü"}] }';
  const text = [
    `\ufeff{"body":${body},"custom_id":"before","url":"${CHAT}","method":"POST"}\r`,
    "",
    `  {"custom_id":"after","method":"POST","url":"${CHAT}","body" : ${body} } `,
    `{"custom_id":"twice","body":{"model":"x"},"method":"POST","url":"${CHAT}","body":${body}}`,
  ].join("\n");

  it.each([1, 2, 3, 7, 64, 100_000])("in pieces of %i bytes", async (size) => {
    const { verdict, lines, bodies } = await verdictOn(text, size);

    expect(verdict).toEqual({ kind: "valid", total: 3 });
    expect(lines.map((each) => [each.line, each.customId, each.model])).toEqual([
      [1, "before", "chat"],
      [3, "after", "chat"],
      [4, "twice", "chat"],
    ]);
    expect(bodies).toEqual([body, body, body]);
    for (const { modelSpan } of lines) expect(body.slice(...modelSpan)).toBe("chat");
  });
});

it("a batch with faults fails with them, and none of its lines is ever run", async () => {
  const scene = await batchScene({ models: { chat: {} } });
  const made = await scene.create([line("a", "chat"), '{"custom_id":', line("a", "chat")]);

  const batch = await scene.done(made.id);

  expect(batch).toMatchObject({ status: "failed", output_file_id: null, error_file_id: null, in_progress_at: null });
  expect(batch.failed_at).toEqual(expect.any(Number));
  expect(batch.errors).toMatchObject({
    object: "list",
    data: [
      { line: 2, code: "invalid_json_line", param: null, message: expect.any(String) },
      { line: 3, code: "duplicate_custom_id", param: "custom_id" },
    ],
  });
  expect(scene.world.ofType("job.accepted")).toEqual([]);
});
