// Reads a streamed answer piece by piece, as text.

import { type Given, passes } from "./given.ts";

export function readerOf(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async (): Promise<string> => {
    const { value } = await reader.read();
    return value === undefined ? "" : Buffer.from(value).toString();
  };
  const all = async (): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks).toString();
      chunks.push(value);
    }
  };
  let tape: { text: string } | null = null;
  const record = (): { text: string } => {
    if (tape !== null) return tape;
    const recording = { text: "" };
    tape = recording;
    void (async () => {
      for (let text = await next(); text !== ""; text = await next()) recording.text += text;
    })();
    return recording;
  };
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, next, all, record, cancel: () => reader.cancel() };
}

/** What arrives while time passes. */
export async function during(world: Given, reader: ReturnType<typeof readerOf>, waitMs: number): Promise<string> {
  const tape = reader.record();
  const before = tape.text.length;
  await passes(world, waitMs);
  return tape.text.slice(before);
}
