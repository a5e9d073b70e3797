// Watches the bytes of a 2xx answer for the two lies an engine can tell under a good status: an error in the body, and a
// stream that ends before its terminator. Nothing is parsed and almost nothing is kept: 256 bytes of a line at most.

/** What is watched of a line or of a JSON body's beginning, in bytes. */
const PREFIX_BYTES = 256;
const LF = 10;
const CR = 13;

export interface AnswerWatch {
  push(bytes: Uint8Array): void;
  /** Called once, after the last byte. In words what is wrong with the answer, or null. */
  verdict(): string | null;
}

/** Watches an answer whose content type says what it is; anything but JSON and event streams is believed. */
export function watchAnswer(endpoint: string, contentType: string | undefined): AnswerWatch {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "text/event-stream") return new EventStreamWatch(terminatorOf(endpoint));
  if (type === "application/json" || type.endsWith("+json")) return new JsonWatch();
  return { push: () => {}, verdict: () => null };
}

/** `none`: the endpoint's streams have no agreed end. */
type Terminator = "done" | "response" | "none";

function terminatorOf(endpoint: string): Terminator {
  const path = endpoint.split("?", 1)[0]?.replace(/\/+$/, "") ?? "";
  if (path.endsWith("/completions")) return "done";
  return path.endsWith("/responses") ? "response" : "none";
}

/** An object whose first key is `error` with a value that is not null. A key further on is the answer's own affair. */
const ERROR_FIRST = /^\s*\{\s*"error"\s*:\s*(?!null\b|\s)[^\s]/;
const DONE = /^\s*\[DONE\]\s*$/;
const RESPONSE_END_EVENT = /^response\.(completed|incomplete|failed)\s*$/;
const RESPONSE_END_DATA = /^\s*\{\s*"type"\s*:\s*"response\.(completed|incomplete|failed)"/;

class EventStreamWatch implements AnswerWatch {
  readonly #terminator: Terminator;
  /** The first bytes of the line that is being read. */
  readonly #line = Buffer.alloc(PREFIX_BYTES);
  #lineBytes = 0;
  #lines = 0;
  #ended: boolean;
  #inBandError = false;

  constructor(terminator: Terminator) {
    this.#terminator = terminator;
    this.#ended = terminator === "none";
  }

  push(bytes: Uint8Array): void {
    let from = 0;
    let lf = -1;
    while (from < bytes.length) {
      if (lf < from) lf = indexOrEnd(bytes, LF, from);
      const end = from + indexOrEnd(bytes.subarray(from, lf), CR, 0);
      this.#keep(bytes, from, end);
      if (end === bytes.length) return;
      this.#endLine();
      from = end + 1;
    }
  }

  verdict(): string | null {
    this.#endLine();
    if (this.#inBandError) return "the engine reported an error inside its stream";
    if (this.#ended) return null;
    const missing = this.#terminator === "done" ? "data: [DONE]" : "response.completed, incomplete or failed";
    return `the stream ended without its terminator (${missing})`;
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const count = Math.min(to - from, PREFIX_BYTES - this.#lineBytes);
    if (count <= 0) return;
    this.#line.set(bytes.subarray(from, from + count), this.#lineBytes);
    this.#lineBytes += count;
  }

  /** CR LF ends a line twice; the second one is empty and means nothing here. */
  #endLine(): void {
    if (this.#lineBytes === 0) return;
    let line = this.#line.toString("latin1", 0, this.#lineBytes);
    this.#lineBytes = 0;
    if (this.#lines++ === 0 && line.startsWith("\xef\xbb\xbf")) line = line.slice(3);
    if (line.startsWith("data:")) this.#data(line.slice(5));
    else if (line.startsWith("event:")) this.#event(line.slice(6).trimStart());
  }

  #data(value: string): void {
    if (ERROR_FIRST.test(value)) this.#inBandError = true;
    else if (this.#terminator === "done") this.#ended ||= DONE.test(value);
    else if (this.#terminator === "response") this.#ended ||= RESPONSE_END_DATA.test(value);
  }

  #event(name: string): void {
    if (/^error\s*$/.test(name)) this.#inBandError = true;
    else if (this.#terminator === "response") this.#ended ||= RESPONSE_END_EVENT.test(name);
  }
}

function indexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from);
  return index === -1 ? bytes.length : index;
}

class JsonWatch implements AnswerWatch {
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;

  push(bytes: Uint8Array): void {
    const count = Math.min(bytes.length, PREFIX_BYTES - this.#prefixBytes);
    if (count <= 0) return;
    this.#prefix.set(bytes.subarray(0, count), this.#prefixBytes);
    this.#prefixBytes += count;
  }

  verdict(): string | null {
    const text = this.#prefix.toString("latin1", 0, this.#prefixBytes);
    return ERROR_FIRST.test(text) ? "the engine answered with an error under a 2xx status" : null;
  }
}
