// Every way to be refused, in one table: always JSON, always OpenAI's envelope with its four keys, a status that clients
// do not mangle, and words that help.

import { connect, createServer } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { type EngineServer, remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { type RouterProcess, serve, tempFolder } from "./process.ts";
import { BAD_REQUEST, PLAIN } from "./recorded-answers.ts";
import { type Asked, ask, CHAT, chatBody } from "./wire.ts";

const LIMIT_BYTES = 20_000;

let engine: EngineServer;
let router: RouterProcess;

/** A port on which nobody listens. */
async function deadOrigin(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

beforeAll(async () => {
  engine = await startEngine(replyWith(200, PLAIN));
  const dead = { driver: "remote", baseUrl: `${await deadOrigin()}/v1` };
  const config = {
    server: { bodyLimitBytes: LIMIT_BYTES },
    jobs: { maxAttempts: 1, maxInterruptions: 1 },
    models: { ...remoteModels(engine, ["org/chat-8b", "m"]), dead: { backend: dead } },
  };
  router = await serve({ config, folder: tempFolder() });
});

interface Envelope {
  readonly error: { readonly message: string; readonly type: string; readonly param: unknown; readonly code: unknown };
}

const ABSENT_ID = "job_01998b0a7a7b70008000000000000000";
const post = (body: string, headers: Record<string, string> = {}): Asked => ({ method: "POST", body, headers });
const large = chatBody("m", { pad: "x".repeat(LIMIT_BYTES) });

const rows: [name: string, path: string, asked: Asked, status: number, code: string, message: RegExp][] = [
  ["cut JSON", CHAT, post('{"model":"m","messages":['), 400, "invalid_json", /JSON/],
  ["JSON with a trailing comma", CHAT, post('{"model":"m",}'), 400, "invalid_json", /JSON/],
  ["two documents", CHAT, post('{"model":"m"}{"model":"m"}'), 400, "invalid_json", /JSON/],
  ["bytes that are not UTF-8 JSON", CHAT, post("\u0000\u0001"), 400, "invalid_json", /JSON/],
  ["an array", CHAT, post("[]"), 400, "invalid_body", /object/],
  ["a string", CHAT, post('"m"'), 400, "invalid_body", /object/],
  ["an empty body", CHAT, post(""), 400, "invalid_json", /empty|JSON/],
  ["no model", CHAT, post('{"messages":[]}'), 400, "missing_model", /model/],
  ["model: 123", CHAT, post('{"model":123}'), 400, "invalid_body", /model/],
  ["model: null", CHAT, post('{"model":null}'), 400, "invalid_body", /model/],
  ["an empty model", CHAT, post('{"model":""}'), 400, "missing_model", /model/],
  ["stream: 'yes'", CHAT, post('{"model":"m","stream":"yes"}'), 400, "invalid_body", /stream/],
  ["an unknown model", CHAT, post(chatBody("org/chat-8")), 404, "model_not_found", /Did you mean "org\/chat-8b"\?/],
  ["an unknown route", "/v1/nope", {}, 404, "route_not_found", /openapi/],
  ["an unknown route, posted", "/v1/nope", post("{}"), 404, "route_not_found", /openapi/],
  ["a wrong method", CHAT, { method: "GET" }, 405, "method_not_allowed", /POST/],
  ["a wrong method on a job", `/v1/jobs/${ABSENT_ID}`, { method: "PATCH" }, 405, "method_not_allowed", /GET/],
  ["an unknown job", `/v1/jobs/${ABSENT_ID}`, {}, 404, "job_not_found", /no such job/],
  ["a job under the short path", `/jobs/${ABSENT_ID}`, {}, 404, "job_not_found", /no such job/],
  ["an ill-formed job id", "/v1/jobs/1%27%20OR%201=1", {}, 404, "job_not_found", /no such job/],
  ["the result of an unknown job", `/v1/jobs/${ABSENT_ID}/result`, {}, 404, "job_not_found", /no such job/],
  ["the end of an unknown job", `/v1/jobs/${ABSENT_ID}/cancel`, { method: "POST" }, 404, "job_not_found", /no such/],
  ["a wait in words", `/v1/jobs/${ABSENT_ID}?wait=long`, {}, 400, "invalid_query", /wait/],
  ["a body over the limit", CHAT, post(large), 413, "body_too_large", /20000 bytes/],
  ["the same without a length", CHAT, { ...post(large), chunked: true }, 413, "body_too_large", /20000 bytes/],
  ["a foreign media type", CHAT, post("m", { "content-type": "text/plain" }), 415, "unsupported_media_type", /json/],
  ["an ill-formed lease", CHAT, post(chatBody("m"), { "sir-lease": "soon" }), 400, "invalid_header", /SIR-Lease/i],
  [
    "an ill-formed deadline",
    CHAT,
    post(chatBody("m"), { "cancel-after": "-1" }),
    400,
    "invalid_header",
    /Cancel-After/i,
  ],
  ["an empty key", CHAT, post(chatBody("m"), { "idempotency-key": '""' }), 400, "invalid_idempotency_key", /key/i],
  ["an engine that is not there", CHAT, post(chatBody("dead")), 502, "poison", /interrupted|connect/i],
];

describe("a refusal", () => {
  it.each(rows)("is JSON with a code and words of help: %s", async (_name, path, asked, status, code, message) => {
    const reply = await ask(router.origin, path, { ...asked, headers: { accept: "text/html", ...asked.headers } });

    expect([reply.status, reply.headers["content-type"]]).toEqual([status, "application/json"]);
    const { error } = reply.json<Envelope>();
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(reply.headers["x-request-id"]).toMatch(/^req_/);
  });

  it("names the methods that a route has", async () => {
    const reply = await ask(router.origin, CHAT, { method: "DELETE" });

    expect([reply.status, reply.headers["allow"]]).toEqual([405, "POST"]);
  });

  it("of an engine that hangs up before its headers is a 502 that clients do not repeat", async () => {
    engine.answer = ({ response }) => void response.socket?.destroy();

    const reply = await ask(router.origin, CHAT, post(chatBody("m")));

    expect([reply.status, reply.headers["x-should-retry"]]).toEqual([502, "false"]);
    expect(reply.json<Envelope>().error.message).not.toBe("");
  });

  it("of an engine that answers 502 with a page is JSON all the same", async () => {
    engine.answer = replyWith(502, "<html><h1>Bad Gateway</h1></html>", "text/html");

    const reply = await ask(router.origin, CHAT, post(chatBody("m")));

    expect([reply.status, reply.headers["content-type"]]).toEqual([502, "application/json"]);
    expect(reply.headers["x-should-retry"]).toBe("false");
    expect(reply.json<Envelope>().error).toMatchObject({ code: "backend_error", type: "server_error" });
    expect(reply.text).not.toContain("<html>");
  });

  it.each([
    [400, BAD_REQUEST, "application/json"],
    [404, '{"error":{"message":"no such adapter","type":"NotFoundError","param":null,"code":404}}', "application/json"],
    [413, "too long\n", "text/plain"],
    [409, "{}", "application/json"],
  ])("of an engine with %i is passed on byte for byte", async (status, body, type) => {
    engine.answer = replyWith(status, body, type);

    const reply = await ask(router.origin, CHAT, post(chatBody("m")));

    expect([reply.status, reply.text, reply.headers["content-type"]]).toEqual([status, body, type]);
    expect(reply.headers["x-should-retry"]).toBe("false");
  });

  it("leaves no trace of what was sent in the log", async () => {
    const secret = "do-not-log-4711";

    await ask(router.origin, CHAT, post(`{"model":"m","messages":"${secret}"`));
    await ask(router.origin, CHAT, post(`{"model":"m","x":"${secret}"}`, { authorization: `Bearer ${secret}` }));
    await ask(router.origin, CHAT, post(chatBody("m"), { "idempotency-key": secret, "sir-lease": "x" }));

    expect(router.stderr).toContain("job.finished");
    expect(router.stderr).not.toContain(secret);
  });

  it("of a body that never ends comes before it ends", async () => {
    const { hostname, port, host } = new URL(router.origin);
    const socket = connect(Number(port), hostname);
    const head = [
      `POST ${CHAT} HTTP/1.1`,
      `host: ${host}`,
      "content-type: application/json",
      "content-length: 5000000",
    ];

    socket.write(`${head.join("\r\n")}\r\n\r\n{"model":`);
    const answer = await new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));

    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });
});
