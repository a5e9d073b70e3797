// A request's bytes as they come off the socket: not parsed, not collected, not decoded.

import type { IncomingMessage } from "node:http";
import { SirError } from "../domain/errors.ts";
import { type Call, socketOf } from "./deps.ts";

export function requestBody(c: Call): AsyncIterable<Uint8Array> {
  const { incoming } = socketOf(c);
  if (incoming !== undefined) return incomingBytes(incoming);
  return webBytes(c.req.raw);
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
