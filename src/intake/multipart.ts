// A resumable scanner of multipart/form-data: finds the fields `model` and `stream`, and takes a fingerprint of the parts
// that does not depend on the boundary. Files pass by without being kept.

import { createHash, type Hash } from "node:crypto";
import { SirError } from "../domain/errors.ts";
import { DelimiterSearch } from "./delimiter.ts";
import { parseParameters } from "./header-params.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { type Member, type Members, VALUE_BYTES } from "./members.ts";

const HEADER_BYTES = 8192;
const PARTS = 1000;
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
/** CR LF CR LF. */
const BLANK_LINE = [CR, LF, CR, LF] as const;

type Stage = "preamble" | "delimiter" | "headers" | "content" | "epilogue";

/** A part's headers. */
export interface PartHead {
  readonly name: string | null;
  readonly filename: string | null;
}

/** Sees every part as it passes; the bytes are the caller's buffer and may not be kept. */
export interface PartWatcher {
  begin(head: PartHead): void;
  content(bytes: Uint8Array): void;
  end(): void;
}

interface Part extends PartHead {
  readonly contentType: string | null;
  readonly startOffset: number;
  readonly hash: Hash;
}

export class MultipartScanner {
  readonly #members: Members = {};
  readonly #search: DelimiterSearch;
  readonly #watcher: PartWatcher | null;
  readonly #fingerprint = createHash("sha256");
  readonly #headers = new KeptBytes(HEADER_BYTES);
  readonly #value = new KeptBytes(VALUE_BYTES);
  #stage: Stage = "preamble";
  #offset = 0;
  #parts = 0;
  #part: Part | null = null;
  /** The field that the present part is, if it is one of ours. */
  #field: "model" | "stream" | null = null;
  #contentBytes = 0;
  /** Bytes of BLANK_LINE seen. */
  #blank = 0;
  /** What followed the delimiter so far. */
  #afterDelimiter: "" | "-" | "blank" | "cr" = "";

  /** @param boundary As the content type names it. */
  constructor(boundary: string, watcher: PartWatcher | null = null) {
    this.#watcher = watcher;
    this.#search = new DelimiterSearch(boundary);
    this.#search.assumeLineStart();
  }

  /** @throws {SirError} invalid_body */
  feed(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#stage === "headers") at = this.#inHeaders(chunk, at);
      else if (this.#stage === "delimiter") at = this.#inDelimiter(chunk, at);
      else if (this.#stage === "epilogue") break;
      else at = this.#inContent(chunk, at);
    }
    this.#offset += chunk.length;
  }

  /** @throws {SirError} invalid_body when the closing boundary is missing. */
  finish(): Members {
    if (this.#stage === "epilogue") return this.#members;
    const missing = this.#stage === "preamble" ? "the boundary named in Content-Type" : "its closing boundary";
    throw this.#fault(`it ends at byte ${this.#offset} without ${missing}`);
  }

  /** Of the parts in their order: name, file name, content type, content. Once, after `finish`. */
  partsDigest(): Uint8Array {
    return this.#fingerprint.digest();
  }

  /** The preamble is searched like a content that nobody wants. */
  #inContent(chunk: Uint8Array, at: number): number {
    const next = this.#search.next(chunk, at, (bytes) => this.#take(bytes));
    if (next < 0) return chunk.length;
    this.#endPart();
    this.#stage = "delimiter";
    this.#afterDelimiter = "";
    return next;
  }

  #take(bytes: Uint8Array): void {
    if (this.#part === null) return;
    this.#part.hash.update(bytes);
    this.#contentBytes += bytes.length;
    this.#watcher?.content(bytes);
    if (this.#field !== null) this.#value.append(bytes, 0, bytes.length);
  }

  /** After a delimiter: two dashes end the body, a line end (after blanks) begins a part. */
  #inDelimiter(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number;
    const before = this.#afterDelimiter;
    if (byte === DASH && before === "") this.#afterDelimiter = "-";
    else if (byte === DASH && before === "-") this.#stage = "epilogue";
    else if (byte === CR && (before === "" || before === "blank")) this.#afterDelimiter = "cr";
    else if ((byte === 0x20 || byte === 0x09) && (before === "" || before === "blank")) this.#afterDelimiter = "blank";
    else if (byte === LF && before === "cr") this.#beginHeaders();
    else throw this.#fault(`expected a line end after the boundary at byte ${this.#offset + at}`);
    return at + 1;
  }

  #beginHeaders(): void {
    if (++this.#parts > PARTS) throw this.#fault(`it has more than ${PARTS} parts`);
    this.#headers.restart(HEADER_BYTES);
    this.#blank = 2;
    this.#stage = "headers";
  }

  #inHeaders(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      this.#blank = byte === BLANK_LINE[this.#blank] ? this.#blank + 1 : byte === CR ? 1 : 0;
      if (this.#blank < BLANK_LINE.length) continue;
      this.#headers.append(chunk, from, at + 1);
      this.#beginPart(this.#offset + at + 1);
      return at + 1;
    }
    this.#headers.append(chunk, from, chunk.length);
    if (this.#headers.isOver) throw this.#headersTooLong();
    return chunk.length;
  }

  #beginPart(startOffset: number): void {
    const text = this.#headers.text();
    if (text === null) throw this.#headersTooLong();
    const lines = text.split("\r\n").filter((line) => line !== "");
    const named = (name: string): string | null => {
      const line = lines.find((one) => one.toLowerCase().startsWith(`${name}:`));
      return line === undefined ? null : line.slice(name.length + 1).trim();
    };
    const disposition = named("content-disposition");
    const params = disposition === null ? null : parseParameters(disposition);
    if (params === null) {
      throw this.#fault(`part ${this.#parts} has no readable Content-Disposition`);
    }
    const name = params.params.get("name") ?? null;
    const filename = params.params.get("filename") ?? params.params.get("filename*") ?? null;
    this.#field = filename === null && (name === "model" || name === "stream") ? name : null;
    if (this.#field !== null) this.#value.restart(VALUE_BYTES);
    this.#part = { name, filename, contentType: named("content-type"), startOffset, hash: createHash("sha256") };
    this.#watcher?.begin({ name, filename });
    this.#contentBytes = 0;
    this.#stage = "content";
  }

  #endPart(): void {
    const part = this.#part;
    if (part === null) return;
    this.#part = null;
    this.#watcher?.end();
    const facts = JSON.stringify([part.name, part.filename, part.contentType, this.#contentBytes]);
    this.#fingerprint.update(`${Buffer.byteLength(facts)}:${facts}`).update(part.hash.digest());
    if (this.#field === null) return;
    const text = this.#value.text();
    if (this.#field === "model") {
      const span = [part.startOffset, part.startOffset + this.#contentBytes] as const;
      this.#members.model = { type: "string", text, span };
    } else {
      this.#members.stream = streamOf(text);
    }
  }

  #headersTooLong(): SirError {
    return this.#fault(`the headers of part ${this.#parts} are longer than ${HEADER_BYTES} bytes`);
  }

  #fault(what: string): SirError {
    return new SirError("invalid_body", `The body is not valid multipart/form-data: ${what}.`);
  }
}

/** A form has only text; engines read `true` and `1` as they read JSON's true. */
function streamOf(text: string | null): Member {
  const word = text?.trim().toLowerCase() ?? "";
  if (word === "true" || word === "1") return { type: "boolean", value: true };
  if (word === "false" || word === "0") return { type: "boolean", value: false };
  return { type: "string", text: null, span: [0, 0] };
}
