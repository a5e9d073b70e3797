// One line of a batch's input, read in pieces: who it is (`custom_id`), that it asks for what the batch is for, and where
// its body lies. The body is scanned as any request's body is, never parsed and never kept.

import { createHash } from "node:crypto";
import { SirError } from "../domain/errors.ts";
import { type Member, type Members, readMembers, type Span } from "../intake/members.ts";
import { JsonScanner } from "../intake/scan.ts";

const KEYS = ["custom_id", "method", "url", "body"] as const;
type Key = (typeof KEYS)[number];
const CUSTOM_ID_CHARACTERS = 512;

export interface LineFacts {
  readonly customId: string;
  /** As the line says it. */
  readonly model: string;
  /** Inside the line. */
  readonly bodyStart: number;
  readonly bodySize: number;
  /** Inside the body. */
  readonly modelSpan: Span;
  readonly sha256: Uint8Array;
}

/** What is wrong with a line. */
export class LineFault extends Error {
  readonly code: string;
  readonly param: string | null;

  constructor(code: string, message: string, param: string | null = null) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

export interface LineRules {
  readonly endpoint: string;
  readonly bodyLimitBytes: number;
}

const asKey = (text: string | null): Key | null => KEYS.find((key) => key === text) ?? null;

export class LineReader {
  readonly #rules: LineRules;
  readonly #line = new JsonScanner<Key>(asKey);
  #body: BodyReader | null = null;
  #offset = 0;

  constructor(rules: LineRules) {
    this.#rules = rules;
  }

  get isEmpty(): boolean {
    return this.#offset === 0;
  }

  /** @throws {LineFault} */
  feed(bytes: Uint8Array): void {
    try {
      this.#line.feed(bytes);
    } catch (error) {
      throw badJson(error);
    }
    this.#feedBody(bytes);
    this.#offset += bytes.length;
  }

  /** @throws {LineFault} */
  finish(): LineFacts {
    let members: Members<Key>;
    try {
      members = this.#line.finish();
    } catch (error) {
      throw badJson(error);
    }
    const customId = textOf(members, "custom_id");
    if (customId === "" || customId.length > CUSTOM_ID_CHARACTERS) {
      const message = `"custom_id" must have 1 to ${CUSTOM_ID_CHARACTERS} characters.`;
      throw new LineFault("invalid_custom_id", message, "custom_id");
    }
    const method = textOf(members, "method");
    if (method !== "POST") throw new LineFault("invalid_method", '"method" must be POST.', "method");
    const url = textOf(members, "url");
    if (url !== this.#rules.endpoint) {
      const message = `"url" must be ${this.#rules.endpoint}, the endpoint of the batch.`;
      throw new LineFault("invalid_url", message, "url");
    }
    const { body } = members;
    if (body === undefined) throw missing("body");
    if (body.type !== "object" || this.#body === null) throw wrongType("body", "an object", body);
    return { customId, ...this.#body.finish() };
  }

  /** The part of these bytes that belongs to the body. */
  #feedBody(bytes: Uint8Array): void {
    const member = this.#line.members.body;
    if (member?.type !== "object") return;
    const [start] = member.span;
    if (this.#body?.start !== start) this.#body = new BodyReader(start, this.#rules.bodyLimitBytes);
    const end = member.span[1] > start ? member.span[1] : this.#offset + bytes.length;
    const from = Math.max(0, start - this.#offset);
    if (end - this.#offset > from) this.#body.feed(bytes.subarray(from, end - this.#offset));
  }
}

class BodyReader {
  readonly start: number;
  readonly #limitBytes: number;
  readonly #scanner = new JsonScanner();
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;

  constructor(start: number, limitBytes: number) {
    this.start = start;
    this.#limitBytes = limitBytes;
  }

  feed(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > this.#limitBytes) {
      const message = `The body is larger than the limit of ${this.#limitBytes} bytes.`;
      throw new LineFault("body_too_large", message, "body");
    }
    this.#scanner.feed(bytes);
    this.#hash.update(bytes);
  }

  finish(): Omit<LineFacts, "customId"> {
    try {
      const { fields, modelSpan } = readMembers(this.#scanner.finish());
      if (fields.stream) throw new LineFault("invalid_body", "A batch's answers are not streamed.", "body.stream");
      if (fields.background) {
        throw new LineFault("invalid_body", "A batch runs in the background as it is.", "body.background");
      }
      const place = { bodyStart: this.start, bodySize: this.#sizeBytes };
      return { model: fields.model, modelSpan, ...place, sha256: this.#hash.digest() };
    } catch (error) {
      if (!(error instanceof SirError)) throw error;
      const { param } = error.detail;
      throw new LineFault(error.code, error.message, param === undefined ? "body" : `body.${param}`);
    }
  }
}

function textOf(members: Members<Key>, key: Key): string {
  const member = members[key];
  if (member === undefined) throw missing(key);
  if (member.type !== "string") throw wrongType(key, "a string", member);
  return member.text ?? "";
}

function missing(key: Key): LineFault {
  return new LineFault("missing_required_parameter", `"${key}" is missing.`, key);
}

function wrongType(key: Key, wanted: string, member: Member): LineFault {
  return new LineFault("invalid_type", `"${key}" must be ${wanted}, got ${member.type}.`, key);
}

function badJson(error: unknown): unknown {
  if (!(error instanceof SirError)) return error;
  return new LineFault("invalid_json_line", error.message.replaceAll("The body", "The line"));
}
