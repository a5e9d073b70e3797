// Whose time the router's sentences tell: said with every answer to a reader, so that no client has to ask for it apart.

import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "./deps.ts";

export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function timeZone(): MiddlewareHandler<HttpEnv> {
  return async function timeZone(c, next) {
    await next();
    if (c.req.method === "GET") c.res.headers.set("sir-time-zone", TIME_ZONE);
  };
}
