// A resumable JSON scanner: fed chunk by chunk, it checks that the document is well-formed and an object, and reads only
// the few top-level members it is asked for (of a body, the five that the router needs). One pass, no tree, and no memory
// that grows with the body.

import { SirError } from "../domain/errors.ts";
import {
  Byte,
  ESCAPES,
  isDigit,
  isHex,
  Mode,
  NEXT_PART,
  NO_PART,
  notAnObject,
  PART_MAY_END,
  Part,
  STOPS_RUN,
  syntaxError,
} from "./json-grammar.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { asWanted, type Member, type Members, type Span, VALUE_BYTES, type Wanted } from "./members.ts";

/** Deeper nesting is refused: engines parse recursively and would fail on it themselves. */
const DEPTH_LIMIT = 512;
/** Longest key that can be one of ours: each letter a six-byte escape. */
const KEY_BYTES = 6 * "service_tier".length;

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

export class JsonScanner<Key extends string = Wanted> {
  readonly #members: Members<Key> = {};
  readonly #asKey: (text: string | null) => Key | null;
  /** 1 where the open container is an object, 0 where it is an array. */
  readonly #stack = new Uint8Array(DEPTH_LIMIT + 1);
  readonly #kept = new KeptBytes(VALUE_BYTES);
  #mode: Mode = Mode.start;
  #depth = 0;
  /** Bytes fed before the present chunk. */
  #offset = 0;
  #isKey = false;
  #isKept = false;
  #hasEscapes = false;
  #stringStart = 0;
  #hexLeft = 0;
  #part: number = Part.minus;
  #literal: Uint8Array = NULL;
  #literalAt = 0;
  /** The top-level member whose value comes next, if it is one of ours. */
  #wanted: Key | null = null;
  /** The wanted object that is open, so that its end can be noted. */
  #object: { readonly type: "object"; span: Span } | null = null;

  /** @param asKey Says which top-level members are read; absent: those of an engine's body. */
  constructor(asKey?: (text: string | null) => Key | null) {
    this.#asKey = asKey ?? (asWanted as unknown as (text: string | null) => Key | null);
  }

  /** What is known so far. */
  get members(): Members<Key> {
    return this.#members;
  }

  get isComplete(): boolean {
    return this.#mode === Mode.end;
  }

  /** @throws {SirError} invalid_json at the first byte that cannot be; invalid_body when the top is no object. */
  feed(chunk: Uint8Array): void {
    const length = chunk.length;
    let at = 0;
    while (at < length) {
      switch (this.#mode) {
        case Mode.string:
          at = this.#inString(chunk, at);
          break;
        case Mode.escape:
        case Mode.hex:
          at = this.#inEscape(chunk, at);
          break;
        case Mode.number:
          at = this.#inNumber(chunk, at);
          break;
        case Mode.literal:
          at = this.#inLiteral(chunk, at);
          break;
        default:
          at = this.#between(chunk, at);
      }
    }
    this.#offset += length;
  }

  /** @throws {SirError} invalid_json when the document is not complete. */
  finish(): Members<Key> {
    if (this.#mode === Mode.end) return this.#members;
    if (this.#offset === 0) {
      throw new SirError("invalid_json", 'The body is empty; send a JSON object with at least a "model".');
    }
    throw syntaxError(this.#mode, this.#offset, null);
  }

  /** Whitespace and structure. */
  #between(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === Byte.space || byte === Byte.lf || byte === Byte.cr || byte === Byte.tab) continue;
      const before = this.#mode;
      if (before === Mode.after) {
        this.#close(byte, at);
      } else if (before === Mode.colon) {
        if (byte !== Byte.colon) throw this.#fault(at, byte);
        this.#mode = Mode.value;
      } else if (before === Mode.value || before === Mode.firstItem) {
        if (byte === Byte.closeArray && before === Mode.firstItem) this.#close(byte, at);
        else if (byte === Byte.minus || isDigit(byte)) at = this.#openNumber(chunk, at) - 1;
        else if (this.#openValue(byte, at)) return at + 1;
      } else if (before === Mode.firstKey && byte === Byte.closeObject) {
        this.#close(byte, at);
      } else if (before === Mode.firstKey || before === Mode.key) {
        if (byte !== Byte.quote) throw this.#fault(at, byte);
        this.#openString(at, true);
        return at + 1;
      } else if (before === Mode.start && byte === Byte.openObject) {
        this.#open(1, at);
      } else {
        throw (before === Mode.start ? notAnObject(byte) : null) ?? this.#fault(at, byte);
      }
    }
    return chunk.length;
  }

  /** True: the value goes on in a mode of its own. */
  #openValue(byte: number, at: number): boolean {
    if (byte === Byte.quote) {
      this.#openString(at, false);
      return true;
    }
    if (byte === Byte.openObject || byte === Byte.openArray) {
      if (this.#wanted !== null) this.#foundContainer(byte === Byte.openObject, this.#offset + at);
      this.#open(byte === Byte.openObject ? 1 : 0, at);
      return false;
    }
    if (byte === Byte.lowerT || byte === Byte.lowerF) {
      this.#found({ type: "boolean", value: byte === Byte.lowerT, start: this.#offset + at });
      this.#literal = byte === Byte.lowerT ? TRUE : FALSE;
    } else if (byte === Byte.lowerN) {
      this.#found({ type: "null" });
      this.#literal = NULL;
    } else {
      throw this.#fault(at, byte);
    }
    this.#literalAt = 1;
    this.#mode = Mode.literal;
    return true;
  }

  /** Numbers come by the million (token ids, embeddings): their first byte leads straight on to the rest. */
  #openNumber(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number;
    if (this.#wanted !== null) this.#found({ type: "number" });
    this.#part = byte === Byte.minus ? Part.minus : byte === Byte.zero ? Part.zero : Part.whole;
    this.#mode = Mode.number;
    return this.#inNumber(chunk, at + 1);
  }

  #open(kind: 0 | 1, at: number): void {
    if (this.#depth === DEPTH_LIMIT) {
      const where = this.#offset + at;
      throw new SirError("invalid_json", `The body is nested deeper than ${DEPTH_LIMIT} levels at byte ${where}.`);
    }
    this.#stack[++this.#depth] = kind;
    this.#mode = kind === 1 ? Mode.firstKey : Mode.firstItem;
  }

  /** After a value: a comma, or the end of the innermost container. */
  #close(byte: number, at: number): void {
    const isObject = this.#stack[this.#depth] === 1;
    if (byte === Byte.comma) {
      this.#mode = isObject ? Mode.key : Mode.value;
      return;
    }
    if (byte !== (isObject ? Byte.closeObject : Byte.closeArray)) throw this.#fault(at, byte);
    this.#depth--;
    if (this.#object !== null && this.#depth === 1) this.#endObject(this.#offset + at + 1);
    this.#mode = this.#depth === 0 ? Mode.end : Mode.after;
  }

  #openString(at: number, isKey: boolean): void {
    this.#mode = Mode.string;
    this.#isKey = isKey;
    this.#stringStart = this.#offset + at + 1;
    this.#isKept = isKey ? this.#depth === 1 : this.#wanted !== null;
    this.#hasEscapes = false;
    if (this.#isKept) this.#kept.restart(isKey ? KEY_BYTES : VALUE_BYTES);
  }

  #inString(chunk: Uint8Array, from: number): number {
    const length = chunk.length;
    let at = from;
    while (at < length && STOPS_RUN[chunk[at] as number] === 0) at++;
    if (this.#isKept) this.#kept.append(chunk, from, at);
    if (at === length) return at;
    const byte = chunk[at] as number;
    if (byte === Byte.quote) {
      this.#closeString(this.#offset + at);
    } else if (byte === Byte.backslash) {
      if (this.#isKept) this.#kept.append(chunk, at, at + 1);
      this.#hasEscapes = true;
      this.#mode = Mode.escape;
    } else {
      throw this.#fault(at, byte);
    }
    return at + 1;
  }

  #inEscape(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number;
    if (this.#mode === Mode.hex) {
      if (!isHex(byte)) throw this.#fault(at, byte);
      if (--this.#hexLeft === 0) this.#mode = Mode.string;
    } else if (byte === Byte.lowerU) {
      this.#mode = Mode.hex;
      this.#hexLeft = 4;
    } else {
      if (ESCAPES[byte] === 0) throw this.#fault(at, byte);
      this.#mode = Mode.string;
    }
    if (this.#isKept) this.#kept.append(chunk, at, at + 1);
    return at + 1;
  }

  #closeString(endOffset: number): void {
    if (this.#isKey) {
      this.#mode = Mode.colon;
      if (this.#depth === 1) this.#wanted = this.#asKey(this.#keptText());
      return;
    }
    this.#mode = Mode.after;
    if (!this.#isKept) return;
    this.#found({ type: "string", text: this.#keptText(), span: [this.#stringStart, endOffset] });
  }

  /** The string just read; its grammar has been checked, so that unescaping cannot fail. */
  #keptText(): string | null {
    const raw = this.#kept.text();
    return raw === null || !this.#hasEscapes ? raw : (JSON.parse(`"${raw}"`) as string);
  }

  /** Ends before the first byte that is not the number's. */
  #inNumber(chunk: Uint8Array, from: number): number {
    const length = chunk.length;
    let part: number = this.#part;
    for (let at = from; at < length; at++) {
      const byte = chunk[at] as number;
      const next = NEXT_PART[part * 256 + byte] as number;
      if (next === NO_PART) {
        if (!PART_MAY_END[part]) throw this.#fault(at, byte);
        this.#mode = Mode.after;
        return at;
      }
      part = next;
    }
    this.#part = part;
    return length;
  }

  #inLiteral(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number;
    if (byte !== this.#literal[this.#literalAt]) throw this.#fault(at, byte);
    if (++this.#literalAt === this.#literal.length) this.#mode = Mode.after;
    return at + 1;
  }

  /** The last of several members of one name counts, as JSON.parse and Python's json have it. */
  #found(member: Member): void {
    if (this.#wanted === null) return;
    this.#members[this.#wanted] = member;
    this.#wanted = null;
  }

  #foundContainer(isObject: boolean, startOffset: number): void {
    if (!isObject) {
      this.#found({ type: "array" });
      return;
    }
    this.#object = { type: "object", span: [startOffset, startOffset] };
    this.#found(this.#object);
  }

  #endObject(endOffset: number): void {
    if (this.#object !== null) this.#object.span = [this.#object.span[0], endOffset];
    this.#object = null;
  }

  #fault(at: number, byte: number): SirError {
    return syntaxError(this.#mode, this.#offset + at, byte);
  }
}
