// What an inference POST is answered with: at once, after a hold, or by a receipt; always the engine's own bytes.

import { describe, expect, it } from "vitest";
import { ANSWER, ASK, ASYNC, given, nextCall, passes, post, quiet, settled } from "./given.ts";

describe("without Prefer", () => {
  it("holds until the engine is done and gives its status, type and bytes unchanged", async () => {
    const world = await given();
    const response = post(world, '{"model":"chat" ,"top_k":1.0}');
    const call = await nextCall(world);
    call.answer(ANSWER, 201, { "content-type": "application/json; x=1", "content-disposition": 'inline; name="a"' });

    const { status, headers, bytes } = await read(await settled(world, response));

    expect(status).toBe(201);
    expect(bytes).toBe(ANSWER);
    expect(headers).toMatchObject({
      "content-type": "application/json; x=1",
      "content-disposition": 'inline; name="a"',
    });
    expect(headers["sir-job-id"]).toMatch(/^job_[0-9a-f]{32}$/);
    expect(headers["x-request-id"]).toMatch(/^req_/);
    expect(headers["vary"]).toBe("Prefer, Authorization");
    expect(headers).not.toHaveProperty("preference-applied");
    expect((await call.body).toString()).toBe('{"model":"chat" ,"top_k":1.0}');
  });

  it("holds for as long as it takes where redirects are off", async () => {
    const world = await given({ redirect: false });
    let answered = false;
    const response = post(world).finally(() => {
      answered = true;
    });
    const call = await nextCall(world);
    await passes(world, 3_000_000);

    expect(answered).toBe(false);

    call.answer(ANSWER);
    expect((await settled(world, response)).status).toBe(200);
  });

  it("passes an engine's 4xx on byte for byte", async () => {
    const world = await given();
    const response = post(world);
    (await nextCall(world)).answer('{"object":"error","message":"too long"}', 400);

    const { status, bytes, headers } = await read(await settled(world, response));

    expect(status).toBe(400);
    expect(bytes).toBe('{"object":"error","message":"too long"}');
    expect(headers["x-should-retry"]).toBe("false");
  });

  it.each([
    ["backend_error", 502],
    ["execution_timeout", 504],
  ] as const)("answers %s with %i after the last attempt, not to be repeated", async (code, status) => {
    const world = await given();
    world.backend.script = (call) => call.end({ kind: "failed", code, detail: "the engine broke" });

    const response = await settled(world, post(world));

    expect(response.status).toBe(status);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toMatchObject({ error: { code, type: "server_error", param: null } });
    expect(world.backend.calls).toHaveLength(3);
  });
});

describe("with respond-async", () => {
  it("answers 202 with a receipt that says where to look and when", async () => {
    const world = await given();

    const response = await settled(world, post(world, ASK, { headers: ASYNC }));
    const receipt = (await response.json()) as { id: string; retry_after: number };

    expect(response.status).toBe(202);
    expect(receipt).toMatchObject({ object: "job", endpoint: "/v1/chat/completions", response: null, error: null });
    expect(response.headers.get("location")).toBe(`../jobs/${receipt.id}`);
    expect(response.headers.get("preference-applied")).toBe("respond-async");
    expect(response.headers.get("retry-after")).toBe(String(receipt.retry_after));
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("vary")).toBe("Prefer, Authorization");
  });

  it.each([
    ["/v1/embeddings", "jobs/"],
    ["/v1/audio/speech", "../jobs/"],
    ["/v1/messages/count_tokens", "../jobs/"],
    ["/tokenize", "v1/jobs/"],
    ["/v2/rerank", "../v1/jobs/"],
  ])("points from %s into /v1", async (path, prefix) => {
    const world = await given();

    const response = await settled(world, post(world, ASK, { path, headers: ASYNC }));
    const location = response.headers.get("location") ?? "";

    expect(location.startsWith(prefix)).toBe(true);
    expect(new URL(location, `http://sir${path}`).pathname).toMatch(/^\/v1\/jobs\/job_/);
  });

  it("gives the answer itself when it comes within wait", async () => {
    const world = await given();
    const response = post(world, ASK, { headers: { prefer: "respond-async, wait=10" } });
    (await nextCall(world)).answer(ANSWER);

    const { status, bytes, headers } = await read(await settled(world, response));

    expect([status, bytes]).toEqual([200, ANSWER]);
    expect(headers["preference-applied"]).toBe("wait=10");
    expect(headers).not.toHaveProperty("location");
  });

  it("falls back to the receipt when wait is over", async () => {
    const world = await given();
    const startedAtMs = world.clock.nowMs();
    const response = await settled(world, post(world, ASK, { headers: { prefer: "respond-async, wait=10" } }));

    expect(response.status).toBe(202);
    expect(response.headers.get("preference-applied")).toBe("respond-async");
    expect(world.clock.nowMs() - startedAtMs).toBe(10_000);
  });

  it("waits a minute at most", async () => {
    const world = await given();
    const startedAtMs = world.clock.nowMs();

    await settled(world, post(world, ASK, { headers: { prefer: "respond-async, wait=7200" } }));

    expect(world.clock.nowMs() - startedAtMs).toBe(60_000);
  });
});

describe("with wait alone", () => {
  it("is never answered with 202, and says that the wait was kept", async () => {
    const world = await given();
    const response = post(world, ASK, { headers: { prefer: "wait=10" } });
    (await nextCall(world)).answer(ANSWER);

    expect((await settled(world, response)).headers.get("preference-applied")).toBe("wait=10");
  });

  it("goes on holding when the wait is over and redirects are off", async () => {
    const world = await given({ redirect: false });
    const response = post(world, ASK, { headers: { prefer: "wait=1" } });
    const call = await nextCall(world);
    await passes(world, 30_000);
    call.answer(ANSWER);

    const answer = await settled(world, response);

    expect(answer.status).toBe(200);
    expect(answer.headers.has("preference-applied")).toBe(false);
  });
});

describe("a repeated key", () => {
  const headers = { "idempotency-key": "k1" };

  it("gives the same job's receipt, flagged", async () => {
    const world = await given();
    const first = await settled(world, post(world, ASK, { headers: { ...ASYNC, ...headers } }));
    const second = await settled(world, post(world, ASK, { headers: { ...ASYNC, ...headers } }));

    expect(((await second.json()) as { id: string }).id).toBe(((await first.json()) as { id: string }).id);
    expect(second.status).toBe(202);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(first.headers.has("idempotency-replayed")).toBe(false);
  });

  it("waits on the same job without Prefer, and both get the answer of one run", async () => {
    const world = await given();
    const first = post(world, ASK, { headers });
    const call = await nextCall(world);
    const second = post(world, ASK, { headers });
    await quiet(world);
    call.answer(ANSWER);

    const answers = await Promise.all([read(await settled(world, first)), read(await settled(world, second))]);

    expect(answers.map(({ bytes }) => bytes)).toEqual([ANSWER, ANSWER]);
    expect(answers[1]?.headers["idempotency-replayed"]).toBe("true");
    expect(world.backend.calls).toHaveLength(1);
  });

  it("replays the stored answer after the end", async () => {
    const world = await given();
    const first = post(world, ASK, { headers });
    (await nextCall(world)).answer(ANSWER);
    await settled(world, first);

    const second = await read(await settled(world, post(world, ASK, { headers })));

    expect([second.status, second.bytes]).toEqual([200, ANSWER]);
    expect(second.headers["idempotency-replayed"]).toBe("true");
  });

  it("is refused for another body with 422", async () => {
    const world = await given();
    await settled(world, post(world, ASK, { headers: { ...ASYNC, ...headers } }));

    const other = await settled(world, post(world, { ...ASK, n: 2 }, { headers: { ...ASYNC, ...headers } }));

    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ error: { code: "idempotency_key_reused" } });
  });
});

async function read(response: Response) {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    bytes: await response.text(),
  };
}
