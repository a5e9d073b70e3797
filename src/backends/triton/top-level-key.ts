// Watches the bytes of a JSON object for one of its own keys, without parsing or keeping the rest: of a key and of its
// value a few bytes are held, however long the body is.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HELD_CHARS = 128;

export class TopLevelKey {
  readonly #key: string;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** A key comes next, at the top level. */
  #keyNext = false;
  #taking: "key" | "value" | null = null;
  #held = "";
  #lastKey = "";
  #value: string | null = null;

  constructor(key: string) {
    this.#key = key;
  }

  /** The value's text so far, cut after 128 characters; of the last one when it comes twice. Null: none has come. */
  get value(): string | null {
    return this.#value;
  }

  push(bytes: Uint8Array): void {
    for (const byte of bytes) this.#take(byte);
  }

  #take(byte: number): void {
    if (this.#inString) {
      this.#inText(byte);
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        if (this.#depth === 1 && this.#keyNext) {
          this.#taking = "key";
          this.#held = "";
        }
        this.#keep(byte);
        return;
      case 0x7b: // {
      case 0x5b: // [
        this.#keep(byte);
        this.#depth++;
        this.#keyNext = this.#depth === 1 && byte === 0x7b;
        return;
      case 0x7d: // }
      case 0x5d: // ]
        this.#depth--;
        if (this.#depth === 0) this.#endValue();
        else this.#keep(byte);
        return;
      case 0x2c: // ,
        if (this.#depth === 1) {
          this.#endValue();
          this.#keyNext = true;
        } else this.#keep(byte);
        return;
      case 0x3a: // :
        if (this.#depth === 1 && this.#keyNext) this.#beginValue();
        else this.#keep(byte);
        return;
      default:
        this.#keep(byte);
    }
  }

  #inText(byte: number): void {
    this.#keep(byte);
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      if (this.#taking !== "key") return;
      this.#lastKey = textOf(this.#held);
      this.#taking = null;
    }
  }

  #beginValue(): void {
    this.#keyNext = false;
    if (this.#lastKey !== this.#key) return;
    this.#taking = "value";
    this.#held = "";
    this.#value = "";
  }

  #endValue(): void {
    if (this.#taking === "value") this.#value = this.#held.trim();
    this.#taking = null;
    this.#lastKey = "";
  }

  #keep(byte: number): void {
    if (this.#taking !== null && this.#held.length < HELD_CHARS) this.#held += String.fromCharCode(byte);
  }
}

/** Keys may be written with escapes. */
function textOf(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return "";
  }
}
