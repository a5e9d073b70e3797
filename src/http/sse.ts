// Server-sent events: framing of comments and events. Whole frames only, so that nothing of ours can split another's.

const encoder = new TextEncoder();

export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** `: text` and one blank line: every client's parser skips it. Line breaks in the text become spaces. */
export function comment(text: string): Uint8Array {
  return encoder.encode(`: ${oneLine(text)}\n\n`);
}

/** A comment without the blank line, for the middle of somebody else's stream: it cannot end an event. */
export function commentLine(text: string): Uint8Array {
  return encoder.encode(`: ${oneLine(text)}\n`);
}

export interface Frame {
  readonly event?: string;
  /** Only on our own vocabulary: on OpenAI-shaped streams an id breaks clients. */
  readonly id?: string;
  readonly data: Uint8Array | string;
}

/** Line breaks inside the data become several `data:` lines, which the reader joins again. */
export function frame({ event, id, data }: Frame): Uint8Array {
  const text = typeof data === "string" ? data : Buffer.from(data.buffer, data.byteOffset, data.length).toString();
  const lines = text.split(/\r\n|\n|\r/).map((line) => `data: ${line}\n`);
  const head = (id === undefined ? "" : `id: ${oneLine(id)}\n`) + (event === undefined ? "" : `event: ${event}\n`);
  return encoder.encode(`${head}${lines.join("")}\n`);
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, " ");
}

/** Where a stream stands: whether a comment line or a new event may be put in here. */
export class StreamEdge {
  #tail = "";

  see(bytes: Uint8Array): void {
    const end = bytes.subarray(Math.max(0, bytes.length - 4));
    this.#tail = (this.#tail + String.fromCharCode(...end)).slice(-4);
  }

  /** At the start of a line: a comment line harms nothing. */
  get atLine(): boolean {
    return this.#tail === "" || this.#tail.endsWith("\n");
  }

  /** Between two events. */
  get atEvent(): boolean {
    return this.#tail === "" || this.#tail.endsWith("\n\n") || this.#tail.endsWith("\r\n\r\n");
  }
}
