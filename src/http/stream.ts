// `GET /v1/stream`: the router's state as it changes, as server-sent events, for dashboards and `sir top`. Read with
// fetch, since keys go into headers and never into an address.

import { SirError } from "../domain/errors.ts";
import { LiveHub } from "../live/hub.ts";
import { callerOf, mayObserve } from "./caller.ts";
import { onAbort } from "./closing.ts";
import { type Call, type HttpDeps, type HttpWorld, socketOf } from "./deps.ts";
import { drainingError } from "./error-body.ts";
import { Outflow } from "./outflow.ts";
import { opaque, type Route } from "./route.ts";
import { SSE_HEADERS } from "./sse.ts";
import { StreamContent } from "./stream-content.ts";

const HEADERS = { ...SSE_HEADERS, "cache-control": "no-store" };
const FULL_RETRY_MS = 30_000;
/** What is not taken is bounded by the hub; a reader that takes nothing at all for so long is gone. */
const LIMITS = { bufferBytes: 16 * 1024 * 1024, stallMs: 120_000 };

export function createLive(deps: HttpDeps, world: () => HttpWorld): LiveHub {
  const { clock, boot = "boot", log, watch, closing } = deps;
  const hub: LiveHub = new LiveHub({
    ...{ clock, boot, content: new StreamContent(world) },
    onLag: (frames) => log?.({ type: "stream.withheld", frames, readers: hub.watching }),
  });
  watch?.({ event: (event) => hub.event(event), change: (change) => hub.change(change) });
  if (closing !== undefined) onAbort(closing.draining, () => hub.close());
  return hub;
}

export function streamRoutes(world: HttpWorld): Route[] {
  return [
    {
      method: "get",
      path: "/v1/stream",
      tag: "operations",
      summary: "The router's state as it changes, as server-sent events",
      answers: {
        200: opaque("`snapshot` (as /v1/status), then `delta`s of what changed; `bye` at the end", "text/event-stream"),
      },
      handle: (c) => readStream(c, world),
    },
  ];
}

/** @throws {SirError} too_many_streams, draining */
function readStream(c: Call, world: HttpWorld): Response {
  if (c.req.method === "HEAD") return new Response(null, { headers: HEADERS });
  if (world.closing?.draining.aborted === true) throw drainingError();
  const { outgoing } = socketOf(c);
  let leave = (): void => undefined;
  const hangUp = outgoing === undefined ? null : () => void outgoing.destroy();
  const outflow = new Outflow(world.clock, () => leave(), hangUp, LIMITS);
  const outlet = { write: (bytes: Uint8Array) => outflow.write(bytes), end: () => outflow.end() };
  const lastEventId = c.req.raw.headers.get("last-event-id");
  const left = world.live.join(mayObserve(c) ? null : callerOf(c), lastEventId, outlet);
  if (left === null) {
    throw new SirError("too_many_streams", "Too many dashboards are open at once. Close some, or try again later.", {
      retryAfterMs: FULL_RETRY_MS,
    });
  }
  const stop = onAbort(c.req.raw.signal, () => leave());
  leave = () => {
    stop();
    left();
  };
  return new Response(outflow.stream, { headers: HEADERS });
}
