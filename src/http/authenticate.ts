// Before every route: whose key is it? Only what tells nothing about anybody is open once there are keys.

import type { MiddlewareHandler } from "hono";
import { SirError } from "../domain/errors.ts";
import type { Call, HttpEnv, HttpWorld } from "./deps.ts";

/** Health for probes, the document, and the page's own files: none of them holds data. */
const OPEN_PATH = /^\/(?:healthz|readyz|openapi\.json|docs|dashboard(?:\/.*)?)?$/;
/** A stranger who tries again and again is one line in the log for so long. */
const QUIET_MS = 60_000;
/** Longer ones are nobody's, and are not hashed. */
const LONGEST_KEY = 512;

export function authenticate(world: HttpWorld): MiddlewareHandler<HttpEnv> {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  let silenced = 0;
  const refuse = (c: Call, reason: "missing" | "unknown"): never => {
    const nowMs = world.clock.nowMs();
    const told = nowMs >= quietUntilMs;
    world.log?.({ type: "http.denied", requestId: c.get("requestId"), reason, told, silenced: told ? silenced : 0 });
    silenced = told ? 0 : silenced + 1;
    if (told) quietUntilMs = nowMs + QUIET_MS;
    throw new SirError(
      "invalid_api_key",
      reason === "missing"
        ? "This router wants an API key: send it as `Authorization: Bearer KEY`."
        : "This API key is not known here. It may have been replaced; ask whoever runs the router.",
    );
  };
  return async function authenticate(c, next) {
    const { keys } = world;
    if (keys === undefined || keys.isOpen) return next();
    const secret = secretOf(c.req.raw.headers);
    const caller = secret === null || secret.length > LONGEST_KEY ? null : keys.find(secret);
    if (caller === null && !OPEN_PATH.test(c.req.path)) refuse(c, secret === null ? "missing" : "unknown");
    c.set("caller", caller);
    return next();
  };
}

/** OpenAI's clients send a bearer token, Anthropic's `x-api-key`. */
function secretOf(headers: Headers): string | null {
  const bearer = /^Bearer +(\S.*)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  return bearer ?? headers.get("x-api-key")?.trim() ?? null;
}
