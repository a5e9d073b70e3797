// Every wrong turn ends in OpenAI's envelope: JSON, four keys, a request id, and a status that clients treat rightly.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode, SirError } from "../../src/domain/errors.ts";
import { errorResponse, retryAfterSeconds } from "../../src/http/error-body.ts";
import { StoreError } from "../../src/store/store.ts";
import { ASK, CHAT, get, given, post, settled } from "./given.ts";

async function expectEnvelope(response: Response, status: number, code: string): Promise<void> {
  const text = await response.text();
  expect([response.status, text]).toEqual([status, expect.stringContaining(`"code":"${code}"`)]);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
  const { error } = JSON.parse(text) as { error: Record<string, unknown> };
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  expect(error["message"]).toMatch(/\w+/);
}

describe("a body that cannot be", () => {
  it.each([
    ["malformed", '{"model": ', 400, "invalid_json"],
    ["an array", "[]", 400, "invalid_body"],
    ["empty", "", 400, "invalid_json"],
    ["without a model", "{}", 400, "missing_model"],
    ["with a number for a model", '{"model":123}', 400, "invalid_body"],
    ["with an unknown model", '{"model":"nope"}', 404, "model_not_found"],
    ["too large", JSON.stringify({ ...ASK, user: "x".repeat(2000) }), 413, "body_too_large"],
  ])("%s", async (_what, body, status, code) => {
    const world = await given({ bodyLimitBytes: 1000 });

    await expectEnvelope(await settled(world, post(world, body, { headers: { accept: "text/html" } })), status, code);
  });

  it("of a type that is not served is 415", async () => {
    const world = await given();

    const response = await settled(world, post(world, "model=x", { headers: { "content-type": "text/plain" } }));

    await expectEnvelope(response, 415, "unsupported_media_type");
  });
});

describe("a path that cannot be", () => {
  it.each([
    ["POST", "/chat/completions", "Did you mean /v1/chat/completions?"],
    ["GET", "/models", "Did you mean /v1/models?"],
    ["POST", "/v1/v1/chat/completions", "Did you mean /v1/chat/completions?"],
    ["GET", "/chat/completions", "No such route. GET /openapi.json"],
    ["POST", "/nope", "No such route. GET /openapi.json"],
  ])("%s %s is told what was probably meant", async (method, path, words) => {
    const world = await given();

    const answer = await settled(world, Promise.resolve(world.app.request(path, { method })));

    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining(words) } });
  });

  it.each([
    "/nope",
    "/v1",
    "/v1/",
    "/v1/chat/completions/",
    "//v1/models",
    "/v1/jobs/",
    "/v1/vector_stores",
    "/V1/models",
  ])("%s is JSON 404 for GET and POST, also for a browser", async (path) => {
    const world = await given();
    for (const method of ["GET", "POST"]) {
      const request = new Request(`http://sir${path}`, { method, headers: { accept: "text/html" } });

      await expectEnvelope(await settled(world, Promise.resolve(world.app.request(request))), 404, "route_not_found");
    }
  });

  it.each([
    ["GET", CHAT, "POST"],
    ["PUT", "/v1/jobs", "GET, HEAD"],
    ["PATCH", "/v1/jobs/job_1", "GET, DELETE, HEAD"],
    ["POST", "/v1/models/org%2Falpha", "GET, HEAD"],
    ["DELETE", "/admin/models/a%2Fb/load", "POST"],
    ["OPTIONS", "/healthz", "GET, HEAD"],
    ["HEAD", CHAT, "POST"],
  ])("%s %s is 405 with Allow: %s", async (method, path, allow) => {
    const world = await given();

    const response = await settled(world, Promise.resolve(world.app.request(path, { method })));

    expect(response.status).toBe(405);
    expect(response.headers.get("allow")?.split(", ").sort()).toEqual(allow.split(", ").sort());
    if (method !== "HEAD") await expectEnvelope(response, 405, "method_not_allowed");
  });
});

describe("a router that cannot", () => {
  it("says queue_full with Retry-After", async () => {
    const world = await given({ maxQueued: 1 });
    const first = { ...ASK, model: "beta" };
    for (let i = 0; i < 2; i++) await settled(world, post(world, first, { headers: { prefer: "respond-async" } }));

    const response = await settled(world, post(world, first, { headers: { prefer: "respond-async" } }));

    expect(response.headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
    await expectEnvelope(response, 503, "queue_full");
  });

  it("says draining to new work, and still answers polls", async () => {
    const world = await given();
    world.closing.drain();

    const refused = await settled(world, post(world));

    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await expectEnvelope(refused, 503, "draining");
    expect((await settled(world, get(world, "/v1/models"))).status).toBe(200);
  });

  it("says store_unavailable when the store is away, without its words", async () => {
    const away = (): never => {
      throw new StoreError("unavailable", "/var/lib/secret/path is gone");
    };
    const world = await given();
    const broken = await given({ deps: { store: { ...world.store, job: away } as never } });

    const response = await settled(world, get(broken, `/v1/jobs/job_${"0".repeat(32)}`));

    await expectEnvelope(response.clone(), 503, "store_unavailable");
    expect(await response.text()).not.toContain("secret");
  });

  it("says internal_error for what nobody foresaw, and tells only the log what it was", async () => {
    const world = await given({
      deps: { metrics: { contentType: "text/plain", text: () => Promise.reject(new Error("the password is 1234")) } },
    });

    const response = await settled(world, get(world, "/metrics"));

    await expectEnvelope(response.clone(), 500, "internal_error");
    expect(await response.text()).not.toContain("1234");
    expect(world.events).toContainEqual(
      expect.objectContaining({
        type: "http.error",
        error: expect.objectContaining({ message: expect.stringContaining("1234") }),
      }),
    );
  });
});

describe("the table of errors", () => {
  const context = { safeToRepeat: true, onUnknown: () => undefined };

  it("never holds a status that clients repeat or mangle", () => {
    const statuses = new Set(Object.values(ERRORS).map(({ status }) => status));

    for (const status of [408, 409, 410, 425, 499]) expect(statuses.has(status as never)).toBe(false);
  });

  it("has a whole Retry-After from 1 to 60 on what may be repeated, however long the wait, and on nothing else", () => {
    const codes = fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[]));
    const waits = fc.option(fc.double(), { nil: undefined });
    fc.assert(
      fc.property(codes, waits, (code, retryAfterMs) => {
        const detail = retryAfterMs === undefined ? {} : { retryAfterMs };
        const response = errorResponse(new SirError(code, "x", detail), context);
        const header = response.headers.get("retry-after");
        if (!ERRORS[code].retryable) return header === null;
        return header !== null && /^([1-9]|[1-5]\d|60)$/.test(header);
      }),
    );
  });

  it.each([
    [undefined, 5],
    [0, 1],
    [1, 1],
    [1001, 2],
    [2_400_000, 60],
    [Number.NaN, 60],
    [-5, 1],
  ])("waits of %s ms are %i s", (waitMs, seconds) => {
    expect(retryAfterSeconds(waitMs)).toBe(seconds);
  });

  it("warns against repeating a write that may have happened, unless a key makes it safe", () => {
    const unknown = new StoreError("unknown", "x");

    const bare = errorResponse(unknown, { ...context, safeToRepeat: false });
    const keyed = errorResponse(unknown, context);

    expect([bare.status, bare.headers.get("x-should-retry")]).toEqual([503, "false"]);
    expect([keyed.status, keyed.headers.get("x-should-retry")]).toEqual([503, null]);
  });
});

it("logs one line a request, with the route's pattern and no path, header or body", async () => {
  const world = await given();
  await settled(
    world,
    post(world, { ...ASK, secret: "hush" }, { headers: { prefer: "respond-async", authorization: "k" } }),
  );
  await settled(world, get(world, "/no/such/secret"));

  expect(world.events).toMatchObject([
    { type: "http.request", method: "POST", route: CHAT, status: 202, job: expect.stringMatching(/^job_/) },
    { type: "http.request", method: "GET", route: null, status: 404, job: null },
  ]);
  expect(JSON.stringify(world.events)).not.toMatch(/hush|secret|authorization/);
});
