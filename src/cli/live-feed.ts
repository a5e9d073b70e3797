// The router's stream of what changes, taken up again where it broke. Its snapshots come first and after each gap.

import type { StreamEvent } from "../client/wire-live.ts";
import { sleepUntil } from "../domain/clock.ts";
import type { Io } from "./command.ts";
import { type RouterClient, RouterError } from "./router-client.ts";

/** `lost`: it broke or could not be had; it is tried again by itself. */
export type FeedEvent = StreamEvent | { readonly event: "lost"; readonly why: string };

/** The router pings each 15 s. */
const SILENCE_MS = 45_000;
const BACK_OFF_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;

/**
 * Until the signal.
 * @param met The router has answered already: that it is gone is then reported, as it is later.
 * @throws {RouterError} when the first attempt is refused or finds no router: later ones are only reported
 */
export async function* liveFeed(
  router: RouterClient,
  io: Io,
  signal: AbortSignal,
  met = false,
): AsyncGenerator<FeedEvent, void> {
  let lastId: string | null = null;
  let failures = 0;
  for (let first = !met; !signal.aborted; first = false) {
    const quiet = new AbortController();
    const until = AbortSignal.any([signal, quiet.signal]);
    try {
      const headers = { accept: "text/event-stream", ...(lastId === null ? {} : { "last-event-id": lastId }) };
      const response = await router.open("/v1/stream", { headers, signal: until });
      for await (const { event, id, data } of eventsIn(response, io, () => quiet.abort())) {
        failures = 0;
        lastId = id ?? lastId;
        yield { event, data } as StreamEvent;
        if (event === "bye") break;
      }
      if (!signal.aborted) yield { event: "lost", why: "the router closed the stream" };
    } catch (error) {
      if (signal.aborted) return;
      if (first && error instanceof RouterError) throw error;
      if (error instanceof RouterError && error.exit === 4) throw error;
      yield { event: "lost", why: error instanceof Error ? error.message : String(error) };
    } finally {
      quiet.abort();
    }
    const pauseMs = BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length - 1)] ?? 0;
    failures++;
    await sleepUntil(io.clock, io.clock.nowMs() + pauseMs, signal);
  }
}

interface Frame {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** Ends when the stream does, or was silent too long. */
export async function* eventsIn({ body }: Response, io: Io, giveUp: () => void): AsyncGenerator<Frame, void> {
  for await (const block of blocksIn(body, io, giveUp)) {
    const frame = frameOf(block);
    if (frame !== null) yield frame;
  }
}

async function* blocksIn(
  body: ReadableStream<Uint8Array> | null,
  io: Io,
  giveUp: () => void,
): AsyncGenerator<string, void> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let rest = ""; ; ) {
    const timer = io.clock.at(io.clock.nowMs() + SILENCE_MS, giveUp);
    const { done, value } = await reader.read().finally(() => timer.cancel());
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    yield* blocks;
  }
}

function frameOf(block: string): Frame | null {
  const lines = block.split(/\r?\n/);
  const values = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /, "")] : []));
  const data = values("data").join("\n");
  if (data === "") return null;
  return { event: values("event")[0] ?? "message", id: values("id")[0] ?? null, data: JSON.parse(data) as unknown };
}
