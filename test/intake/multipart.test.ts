// Multipart bodies: fields found behind large files, boundaries cut anywhere, fingerprints of parts.

import fc from "fast-check";
import { expect, test } from "vitest";
import { SirError } from "../../src/domain/errors.ts";
import { readMedia } from "../../src/intake/media.ts";
import type { Members } from "../../src/intake/members.ts";
import { MultipartScanner } from "../../src/intake/multipart.ts";
import { cutAt, cuts } from "./scanning.ts";

interface Piece {
  readonly name: string;
  readonly filename?: string;
  readonly content: Uint8Array | string;
}

function formOf(boundary: string, parts: readonly Piece[], preamble = "", epilogue = ""): Buffer {
  const pieces: (string | Uint8Array)[] = [preamble === "" ? "" : `${preamble}\r\n`];
  for (const { name, filename, content } of parts) {
    const file = filename === undefined ? "" : `; filename="${filename}"\r\nContent-Type: audio/wav`;
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`, content, "\r\n");
  }
  pieces.push(`--${boundary}--\r\n${epilogue}`);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
}

function scanForm(boundary: string, body: Uint8Array, at: readonly number[] = []): Members & { digest: string } {
  const scanner = new MultipartScanner(boundary);
  for (const piece of cutAt(body, at)) scanner.feed(piece);
  const members = scanner.finish();
  return { ...members, digest: Buffer.from(scanner.partsDigest()).toString("hex") };
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SirError) return error.code;
    throw error;
  }
  return "accepted";
}

/** Contents that look like the boundary as closely as they may. */
const content = fc
  .array(fc.constantFrom("\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--b0und", "--b0undary", "x", "\r\r\n--b0un"), {
    maxLength: 12,
  })
  .map((words) => words.join(""))
  .filter((text) => !`\r\n${text}\r\n`.includes("\r\n--b0undary"));

test("Wherever the bytes are cut, the fields, their spans and the fingerprint are the same", () => {
  fc.assert(
    fc.property(fc.array(content, { maxLength: 4 }), fc.boolean(), content, cuts, (files, first, before, at) => {
      const model = { name: "model", content: "whisper-1" };
      const parts = files.map((file, i) => ({ name: `file${i}`, filename: "a.wav", content: file }));
      const body = formOf("b0undary", first ? [model, ...parts] : [...parts, model], before, "anything");

      const whole = scanForm("b0undary", body);
      const found = scanForm("b0undary", body, at);

      expect(found).toEqual(whole);
      if (found.model?.type !== "string") throw new Error("no model");
      expect(body.subarray(...found.model.span).toString()).toBe("whisper-1");
    }),
    { numRuns: 2000, interruptAfterTimeLimit: 15_000 },
  );
});

test("Cut at every single byte it finds the model behind the file", () => {
  const body = formOf("b0undary", [
    { name: "file", filename: 'naïve; name=\\"model\\".wav', content: "RIFF\r\n--b0undar\r\n" },
    { name: "model", content: "whisper-1" },
    { name: "stream", content: "true" },
  ]);
  for (let at = 0; at <= body.length; at++) {
    const found = scanForm("b0undary", body, [at]);
    expect(found.model).toMatchObject({ text: "whisper-1" });
    expect(found.stream).toEqual({ type: "boolean", value: true });
  }
});

test("The fingerprint depends on names, file names and contents, and not on the boundary", () => {
  const parts = [
    { name: "file", filename: "a.wav", content: "RIFF" },
    { name: "model", content: "m" },
  ];
  const one = scanForm("b0undary", formOf("b0undary", parts)).digest;

  expect(scanForm("other", formOf("other", parts)).digest).toBe(one);
  for (const changed of [
    [{ name: "file", filename: "b.wav", content: "RIFF" }, parts[1]],
    [{ name: "file", filename: "a.wav", content: "RIFX" }, parts[1]],
    [{ name: "fila", filename: "a.wav", content: "RIFF" }, parts[1]],
    [{ name: "file", content: "RIFF" }, parts[1]],
    [parts[1], parts[0]],
    [parts[0]],
  ]) {
    const present = changed.filter((part) => part !== undefined);
    expect(scanForm("b0undary", formOf("b0undary", present)).digest).not.toBe(one);
  }
});

test("A stray carriage return before the end of the part's headers does not hide their end", () => {
  const body = Buffer.from('--b\r\nContent-Disposition: form-data; name="model"\r\r\n\r\nm\r\n--b--');
  for (let at = 0; at <= body.length; at++) expect(scanForm("b", body, [at]).model).toMatchObject({ text: "m" });
});

test("A file called model is no field, and of two fields the last counts", () => {
  const file = scanForm("b", formOf("b", [{ name: "model", filename: "model", content: "x" }]));
  expect(file.model).toBeUndefined();

  const twice = scanForm(
    "b",
    formOf("b", [
      { name: "model", content: "first" },
      { name: "model", content: "last" },
    ]),
  );
  expect(twice.model).toMatchObject({ text: "last" });
});

test.each([
  ["nothing", ""],
  ["no boundary", "hello"],
  ["no closing boundary", '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b\r\n'],
  ["text after the boundary", '--bx\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--'],
  ["a part without a disposition", "--b\r\nX: y\r\n\r\nm\r\n--b--"],
  ["an unending part header", `--b\r\nX: ${"y".repeat(20_000)}`],
  ["a disposition with an open quote", '--b\r\nContent-Disposition: form-data; name="model\r\n\r\nm\r\n--b--'],
  [
    "too many parts",
    formOf(
      "b",
      Array.from({ length: 1001 }, () => ({ name: "a", content: "" })),
    ).toString(),
  ],
])("A form with %s is invalid_body", (_what, text) => {
  expect(codeOf(() => scanForm("b", Buffer.from(text)))).toBe("invalid_body");
  expect(codeOf(() => scanForm("b", Buffer.from(text), [1, 2, 3, 5, 8, 13]))).toBe("invalid_body");
});

test("Content types: what is read, and what is refused with what", () => {
  const media = (contentType: string, encoding: string | null = null) =>
    codeOf(() => readMedia((name) => (name === "content-type" ? contentType : encoding)));

  for (const good of [
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/vnd.api+json",
    "",
    "multipart/form-data; boundary=abc",
    'multipart/form-data; charset="utf-8"; BOUNDARY="a b;c"',
  ]) {
    expect([good, media(good)]).toEqual([good, "accepted"]);
  }
  for (const bad of ["text/plain", "application/x-www-form-urlencoded", "multipart/mixed; boundary=a", ";;;"]) {
    expect([bad, media(bad)]).toEqual([bad, "unsupported_media_type"]);
  }
  for (const bad of [
    "multipart/form-data",
    "multipart/form-data; boundary=",
    `multipart/form-data; boundary=${"a".repeat(71)}`,
  ]) {
    expect([bad, media(bad)]).toEqual([bad, "invalid_header"]);
  }
  expect(media("application/json", "gzip")).toBe("unsupported_media_type");
  expect(readMedia((name) => (name === "content-type" ? 'multipart/form-data; boundary="a b"' : null))).toMatchObject({
    boundary: "a b",
  });
});
