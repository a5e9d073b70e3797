// Server-sent events out of a stream of bytes, as the HTML standard has them. Comments only show that the line is alive.

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
  readonly retryMs: number | null;
}

/** Calls `onBytes` for whatever comes, comments too. Ends when the stream does. */
export async function* readEvents(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<SseEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** One block between blank lines; null: nothing but comments. */
export function parseBlock(block: string): SseEvent | null {
  const data: string[] = [];
  let event = "message";
  let id: string | null = null;
  let retryMs: number | null = null;
  for (const line of block.split(/\r?\n/)) {
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "retry" && /^\d+$/.test(value)) retryMs = Number(value);
  }
  if (data.length === 0 && retryMs === null && id === null) return null;
  return { event, data: data.join("\n"), id, retryMs };
}
