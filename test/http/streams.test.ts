// Streamed answers: the engine's bytes and nothing else, comments only while there is silence, errors that cannot be
// taken for an end.

import { describe, expect, it } from "vitest";
import { ASK, given, nextCall, passes, post, quiet, settled } from "./given.ts";
import { during, readerOf } from "./stream-reader.ts";

const STREAM = { ...ASK, stream: true };
const CHUNK = 'data: {"id":"c","choices":[{"delta":{"content":"hé"}}]}\n\n';
const DONE = "data: [DONE]\n\n";

describe("a stream", () => {
  it("has the engine's bytes as they came, and the headers that proxies need", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    const pieces = split(Buffer.from(CHUNK + DONE), [7, 50, 51, 60]);
    for (const piece of pieces) void call.send(piece);
    call.end();

    const bytes = await settled(world, reader.all());

    expect(bytes).toBe(CHUNK + DONE);
    expect(reader.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      "cache-control": "no-cache",
      vary: "Prefer, Authorization",
    });
    expect(reader.headers).not.toHaveProperty("content-length");
    expect(reader.headers["sir-job-id"]).toMatch(/^job_/);
  });

  it.each(["respond-async", "respond-async, wait=5", "wait=5"])("ignores Prefer: %s", async (prefer) => {
    const world = await given();
    const response = post(world, STREAM, { headers: { prefer } });
    const call = (await nextCall(world)).stream();
    void call.send(CHUNK + DONE);
    call.end();

    const reader = readerOf(await settled(world, response));

    expect(reader.status).toBe(200);
    expect(reader.headers).not.toHaveProperty("preference-applied");
    expect(await settled(world, reader.all())).toBe(CHUNK + DONE);
  });

  it("gives each chunk on before the next one comes", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));

    for (const text of ["data: a\n\n", "data: b\n\n"]) {
      void call.send(text);
      expect(await settled(world, reader.next())).toBe(text);
    }
  });

  it("waits ten seconds for the engine's headers and then begins with a comment on the queue", async () => {
    const world = await given();
    const startedAtMs = world.clock.nowMs();
    const response = await settled(world, post(world, STREAM));

    expect(world.clock.nowMs() - startedAtMs).toBe(10_000);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await settled(world, readerOf(response).next())).toBe(": working\n\n");
  });

  it("says its place while it waits, and nothing that breaks a client", async () => {
    const { world, reader } = await queuedBehindAnother();
    const first = await settled(world, reader.next());
    const text = first + (await during(world, reader, 60_000));

    expect(first).toMatch(/^: queued position=0/);
    expect(text.match(/^: /gm)?.length).toBeGreaterThanOrEqual(5);
    for (const line of text.split("\n")) expect(line === "" || line.startsWith(": ")).toBe(true);
    expect(text).not.toMatch(/\n\n\n/);
  });

  it("keeps a stalled stream alive without ending an event that is half sent", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    void call.send("id: 7\ndata: {");
    const torn = await during(world, reader, 40_000);
    void call.send('"a":1}\n\n');
    const whole = await during(world, reader, 40_000);

    expect(torn).toBe("id: 7\ndata: {");
    expect(whole).toMatch(/^"a":1\}\n\n(: keep-alive\n){3}$/);
    expect(pythonEvents(torn + whole)).toEqual(['{"a":1}']);
  });

  it("gives the engine's refusal as it is while there is time", async () => {
    const world = await given();
    const response = post(world, STREAM);
    (await nextCall(world)).answer('{"error":{"message":"no"}}', 422);

    const reader = readerOf(await settled(world, response));

    expect(reader.status).toBe(422);
    expect(reader.headers["content-type"]).toBe("application/json");
    expect(await settled(world, reader.all())).toBe('{"error":{"message":"no"}}');
  });

  it("tells a refusal that came late as an error event with the engine's words", async () => {
    const { world, reader, start } = await queuedBehindAnother();
    const call = await start();
    call.answer('{"error":{"message":"too long","type":"x","param":"n","code":"y"}}', 400);

    const text = await settled(world, reader.all());

    expect(text.endsWith('data: {"error":{"message":"too long","type":"x","param":"n","code":"y"}}\n\n')).toBe(true);
  });

  it("answers a failure before the first byte with its status", async () => {
    const world = await given();
    world.backend.script = (call) => call.end({ kind: "failed", code: "backend_error", detail: "it broke" });

    const response = await settled(world, post(world, STREAM));

    expect(response.status).toBe(502);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toMatchObject({ error: { code: "backend_error" } });
  });

  it("closes after an error without [DONE], and is not run again", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    void call.send(CHUNK);
    expect(await settled(world, reader.next())).toBe(CHUNK);
    call.end({ kind: "failed", code: "backend_error", detail: "cut" });

    const rest = await settled(world, reader.all());

    expect(rest).toMatch(
      /^data: \{"error":\{"message":".*","type":"server_error","param":null,"code":"backend_error"\}\}\n\n$/,
    );
    expect(world.backend.calls).toHaveLength(1);
  });

  it("ends an event that was cut before it tells the error", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    void call.send('data: {"cut');
    await settled(world, reader.next());
    call.end({ kind: "failed", code: "backend_error", detail: "cut" });

    expect(await settled(world, reader.all())).toMatch(/^\n\ndata: \{"error"/);
  });

  it("speaks Anthropic's dialect on its endpoint", async () => {
    const world = await given();
    const response = post(world, STREAM, { path: "/v1/messages" });
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    void call.send("event: message_start\ndata: {}\n\n");
    await settled(world, reader.next());
    call.end({ kind: "failed", code: "backend_error", detail: "cut" });

    expect(await settled(world, reader.all())).toMatch(/^event: error\ndata: \{"type":"error","error":\{"message"/);
  });
});

describe("a caller of a stream who leaves", () => {
  it("has its job cancelled at once", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    void call.send(CHUNK);
    await settled(world, reader.next());

    await reader.cancel();
    await quiet(world);

    expect(call.aborted).toBe(true);
  });

  it("is noticed before the first byte", async () => {
    const world = await given();
    const leaving = new AbortController();
    const response = post(world, STREAM, { signal: leaving.signal });
    const call = await nextCall(world);

    leaving.abort();
    await settled(
      world,
      response.catch(() => null),
    );
    await quiet(world);

    expect(call.aborted).toBe(true);
  });

  it.each([{ "idempotency-key": "k" }, { "x-stainless-retry-count": "0" }])(
    "keeps its place for a while when it can come back: %o",
    async (headers) => {
      const world = await given();
      const leaving = new AbortController();
      void post(world, STREAM, { signal: leaving.signal, headers }).catch(() => null);
      const call = await nextCall(world);

      leaving.abort();
      await passes(world, 9_000);
      expect(call.aborted).toBe(false);

      await passes(world, 3_000);
      expect(call.aborted).toBe(true);
    },
  );

  it("is dropped when it takes nothing for a minute", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    await settled(world, response);
    void call.send(CHUNK);
    await passes(world, 59_000);
    expect(call.aborted).toBe(false);

    await passes(world, 2_000);

    expect(call.aborted).toBe(true);
    expect(world.events).toContainEqual(expect.objectContaining({ type: "http.dropped", reason: "stalled" }));
  });

  it("holds the engine back instead of filling memory", async () => {
    const world = await given();
    const response = post(world, STREAM);
    const call = (await nextCall(world)).stream();
    const reader = readerOf(await settled(world, response));
    let taken = false;
    void Promise.resolve(call.send(CHUNK)).then(() => {
      taken = true;
    });
    await quiet(world);
    expect(taken).toBe(false);

    await settled(world, reader.next());
    void reader.next();
    await quiet(world);

    expect(taken).toBe(true);
  });
});

/** A stream whose model is busy: its headers have gone out, its job is queued. */
async function queuedBehindAnother() {
  const world = await given();
  const blocker = post(world, { ...ASK, model: "beta" });
  const busy = await nextCall(world);
  const response = await settled(world, post(world, { ...STREAM, model: "beta" }));
  const start = async () => {
    busy.answer("{}");
    await settled(world, blocker);
    return nextCall(world);
  };
  return { world, reader: readerOf(response), start };
}

function split(bytes: Buffer, at: readonly number[]): Buffer[] {
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

/** As openai-python reads: a blank line dispatches an event once an id was seen, be it empty or not. */
function pythonEvents(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  let lastId: string | null = null;
  for (const line of text.split("\n").slice(0, -1)) {
    if (line === "") {
      if (data.length > 0 || lastId !== null) events.push(data.join("\n"));
      data = [];
    } else if (line.startsWith("data: ")) data.push(line.slice(6));
    else if (line.startsWith("id: ")) lastId = line.slice(4);
  }
  return events;
}
