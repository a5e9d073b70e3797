// Every request gets an id that its answer, its errors and its log line carry, and one line in the log.

import type { MiddlewareHandler } from "hono";
import type { HttpEnv, HttpWorld } from "./deps.ts";

export function requestId(world: HttpWorld): MiddlewareHandler<HttpEnv> {
  return async function requestId(c, next) {
    const id = world.ids.next("req");
    const startedAtMs = world.clock.nowMs();
    c.set("requestId", id);
    c.set("route", null);
    c.set("job", null);
    c.set("caller", null);
    await next();
    c.res.headers.set("x-request-id", id);
    world.log?.({
      type: "http.request",
      requestId: id,
      method: c.req.method,
      route: c.get("route"),
      status: c.res.status,
      tookMs: world.clock.nowMs() - startedAtMs,
      job: c.get("job"),
      caller: c.get("caller")?.id ?? null,
    });
  };
}
