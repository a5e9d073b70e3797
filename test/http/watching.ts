// Reads the live stream as a dashboard does, in virtual time: events as they come, and how much of it is taken.

import type { StreamEvent } from "../../src/client/wire-live.ts";
import { type Given, get, passes, settled } from "./given.ts";

export type Told = StreamEvent & { readonly id: string | null };

/** The events of a text of whole blocks; comments are left out. */
export function eventsOf(text: string): Told[] {
  return text.split("\n\n").flatMap((block) => {
    const fields = new Map(
      block.split("\n").flatMap((line) => {
        const at = line.indexOf(": ");
        return at <= 0 ? [] : [[line.slice(0, at), line.slice(at + 2)] as const];
      }),
    );
    const data = fields.get("data");
    if (data === undefined) return [];
    return [{ event: fields.get("event"), id: fields.get("id") ?? null, data: JSON.parse(data) } as Told];
  });
}

export interface Reader {
  readonly response: Response;
  /** Everything so far. */
  readonly text: string;
  readonly events: Told[];
  readonly done: boolean;
  leave(): void;
}

/** Takes whatever comes. */
export async function watching(world: Given, headers: Record<string, string> = {}): Promise<Reader> {
  // The engine's first look, at nothing.
  await passes(world, 10);
  const response = await settled(world, get(world, "/v1/stream", headers));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const seen = { text: "", done: false };
  void (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      seen.text += Buffer.from(value).toString();
    }
    seen.done = true;
  })();
  await passes(world, 1);
  return {
    response,
    get text() {
      return seen.text;
    },
    get events() {
      return eventsOf(seen.text);
    },
    get done() {
      return seen.done;
    },
    leave: () => void reader.cancel(),
  };
}
