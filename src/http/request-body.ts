// A request's bytes as they come off the socket: not parsed, not collected, not decoded. A sender who stops sending, or
// sends next to nothing, is not waited for: there are only so many bodies that can be read at once.

import type { IncomingMessage } from "node:http";
import type { Clock } from "../domain/clock.ts";
import { SirError } from "../domain/errors.ts";
import { type Call, socketOf } from "./deps.ts";

/** Longest silence within a body. */
const SILENCE_MS = 60_000;
/** After the first minute a body must have come at this rate. */
const LEAST_BYTES_PER_MS = 1;

/** @throws {SirError} invalid_body from the iteration, when the body is cut short or comes too slowly */
export function requestBody(c: Call, clock: Clock): AsyncIterable<Uint8Array> {
  const { incoming } = socketOf(c);
  return paced(incoming === undefined ? webBytes(c.req.raw) : incomingBytes(incoming), clock);
}

async function* paced(chunks: AsyncGenerator<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array> {
  const startedAtMs = clock.nowMs();
  let bytes = 0;
  try {
    for (;;) {
      const slowestMs = startedAtMs + SILENCE_MS + bytes / LEAST_BYTES_PER_MS;
      const next = await within(chunks.next(), clock, Math.min(clock.nowMs() + SILENCE_MS, slowestMs));
      if (next.done === true) return;
      bytes += next.value.length;
      yield next.value;
    }
  } finally {
    // Not waited for: it would stand behind a chunk that may never come.
    chunks.return(undefined).catch(() => undefined);
  }
}

function within<T>(work: Promise<T>, clock: Clock, untilMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.at(untilMs, () => {
      reject(new SirError("invalid_body", "The body came too slowly, or stopped coming; send it again at once."));
    });
    work.finally(() => timer.cancel()).then(resolve, reject);
  });
}

/**
 * Stopping early leaves the request open, so that a refusal can still be answered; the server then discards the rest.
 */
async function* incomingBytes(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  } catch (error) {
    if (!incoming.complete) throw cutShort(error);
    // All of it had arrived when the caller hung up: what is still buffered is the rest of it.
    for (let rest = incoming.read(); rest !== null; rest = incoming.read()) yield rest as Uint8Array;
  }
}

async function* webBytes(request: Request): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

function cutShort(cause: unknown): SirError {
  return new SirError("invalid_body", "The connection closed before the whole body had arrived.", { cause });
}
