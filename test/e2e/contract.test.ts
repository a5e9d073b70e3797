// What a real socket shows: callers who hang up, repeat themselves or fall silent, and what their engine sees of it.

import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EngineServer, type Received, remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "./process.ts";
import { PLAIN, piecesOf, STREAM } from "./recorded-answers.ts";
import { ASYNC, ask, CHAT, chatBody, hangUpAfterBody, open, receiptOf, submit } from "./wire.ts";

let engine: EngineServer;
let router: RouterProcess;
let before = 0;

beforeAll(async () => {
  engine = await startEngine(replyWith(200, PLAIN));
  const config = {
    jobs: { leaseSeconds: 5, sweepSeconds: 0.2, maxAttempts: 1 },
    sync: { orphanSeconds: 5 },
    models: { ...remoteModels(engine, ["m"]), ...remoteModels(engine, ["one"], { concurrency: 1 }) },
  };
  router = await serve({ config, folder: tempFolder() });
});

beforeEach(() => {
  before = engine.received.length;
});

/** An engine that works for a while, unless its caller leaves. */
const slowly =
  (waitMs: number) =>
  async (received: Received): Promise<void> => {
    await pause(waitMs);
    replyWith(200, PLAIN)(received);
  };

/** Never answers. */
const silently = (): void => undefined;

const wasCut = async ({ cut }: Received, withinMs: number): Promise<boolean> =>
  Promise.race([cut.then(() => true), pause(withinMs).then(() => false)]);

const calls = (): Received[] => engine.received.slice(before);

describe("a caller who hangs up and asks again", () => {
  it("meets its own job under the same key: one call of the engine, and the answer", async () => {
    engine.answer = slowly(700);
    const asked = { body: chatBody("m"), headers: { "idempotency-key": "again", "x-stainless-retry-count": "0" } };
    open(router.origin, CHAT, asked).catch(() => undefined);
    await engine.request(before);
    hangUpAfterBody(router.origin, CHAT, asked);

    const reply = await ask(router.origin, CHAT, asked);

    expect([reply.status, reply.text]).toEqual([200, PLAIN]);
    expect(reply.headers["idempotency-replayed"]).toBe("true");
    expect(calls()).toHaveLength(1);
  });

  it("keeps its job under a key while its socket is gone", async () => {
    engine.answer = slowly(700);
    const asked = { body: chatBody("m"), headers: { "idempotency-key": "dropped" } };
    const first = hangUpAfterBody(router.origin, CHAT, asked);
    await first.closed;
    await engine.request(before);

    const reply = await ask(router.origin, CHAT, asked);

    expect([reply.status, reply.text]).toEqual([200, PLAIN]);
    expect(calls()).toHaveLength(1);
    expect(await wasCut(calls()[0] as Received, 0)).toBe(false);
  });

  it("pays for exactly one more run when it sent no key, and the first is aborted at once", async () => {
    engine.answer = silently;
    const asked = { body: chatBody("m") };
    const first = hangUpAfterBody(router.origin, CHAT, asked, 150);
    const dropped = await engine.request(before);
    await first.closed;
    const closedAtMs = performance.now();
    expect((await dropped.cut) - closedAtMs).toBeLessThan(1_000);
    engine.answer = replyWith(200, PLAIN);

    const reply = await ask(router.origin, CHAT, asked);

    expect([reply.status, reply.text]).toEqual([200, PLAIN]);
    expect(calls()).toHaveLength(2);
  });
});

describe("a receipt whose socket is gone", () => {
  it("is run in full when the socket goes as soon as the answer's headers are there", async () => {
    engine.answer = slowly(300);

    const opened = await open(router.origin, CHAT, { body: chatBody("m"), headers: ASYNC });
    opened.socket.destroy();
    const id = String(opened.headers["sir-job-id"]);
    const receipt = await receiptOf(router.origin, id, 5);

    expect(opened.status).toBe(202);
    expect(receipt).toMatchObject({ status: "completed", response: { status_code: 200 } });
    expect(await wasCut(calls()[0] as Received, 0)).toBe(false);
  });

  it("is run in full when the socket goes right after the request's body", async () => {
    engine.answer = slowly(300);
    const headers = { ...ASYNC, "idempotency-key": "fire-and-forget" };

    await hangUpAfterBody(router.origin, CHAT, { body: chatBody("m"), headers }).closed;
    const received = await engine.request(before);
    const { id } = await submit(router.origin, chatBody("m"), headers);
    const receipt = await receiptOf(router.origin, id, 5);

    expect(receipt.response?.body).toEqual(JSON.parse(PLAIN));
    expect(await wasCut(received, 0)).toBe(false);
    expect(calls()).toHaveLength(1);
  });
});

describe("a job that is given up", () => {
  it("leaves the engine within a second of its cancel, and its slot goes to the next", async () => {
    engine.answer = silently;
    const { id } = await submit(router.origin, chatBody("one"));
    const running = await engine.request(before);
    engine.answer = replyWith(200, PLAIN);
    const next = await submit(router.origin, chatBody("one"));

    const cancelledAtMs = performance.now();
    const reply = await ask(router.origin, `/v1/jobs/${id}/cancel`, { method: "POST" });

    expect((await running.cut) - cancelledAtMs).toBeLessThan(1_000);
    expect(reply.json()).toMatchObject({ status: "cancelled", error: { reason: "client" } });
    expect(await receiptOf(router.origin, next.id, 5)).toMatchObject({ status: "completed" });
    const again = await ask(router.origin, `/v1/jobs/${id}/cancel`, { method: "POST" });
    expect([again.status, again.json()]).toEqual([200, reply.json()]);
  });

  it("leaves the engine when nobody has polled for its lease, and says so", async () => {
    engine.answer = silently;
    const { id } = await submit(router.origin, chatBody("one"), { "sir-lease": "1" });
    const startedAtMs = performance.now();
    const running = await engine.request(before);

    const lapsedAfterMs = (await running.cut) - startedAtMs;

    expect(lapsedAfterMs).toBeGreaterThan(900);
    expect(lapsedAfterMs).toBeLessThan(1_000 + 200 + 1_000);
    expect(await receiptOf(router.origin, id)).toMatchObject({
      status: "cancelled",
      error: { code: "job_cancelled", reason: "lease_expired" },
    });
  });

  it("lives for as long as somebody polls, well beyond its lease", async () => {
    engine.answer = slowly(2_500);
    const { id } = await submit(router.origin, chatBody("one"), { "sir-lease": "1" });

    const seen: string[] = [];
    await eventually(async () => {
      const { status } = await receiptOf(router.origin, id);
      seen.push(status);
      await pause(200);
      expect(status).toBe("completed");
    });

    expect(new Set(seen)).not.toContain("cancelled");
    expect(calls()).toHaveLength(1);
  });

  it("cannot be lost by a long poll that is longer than the lease", async () => {
    engine.answer = slowly(2_500);
    const { id } = await submit(router.origin, chatBody("one"), { "sir-lease": "1" });

    const receipt = await receiptOf(router.origin, id, 10);

    expect(receipt.status).toBe("completed");
  });
});

describe("a stream", () => {
  const streamBody = chatBody("m", { stream: true });

  it("is passed on chunk for chunk while the engine is still writing, cut wherever the engine cuts it", async () => {
    const whole = STREAM.join("");
    let seenBytes = (): number => 0;
    engine.answer = async ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      let sentBytes = 0;
      for (const piece of piecesOf(whole, [1, 2, 3, 37])) {
        response.write(piece);
        sentBytes += piece.length;
        // Nothing more is written until the caller has all of it: whoever holds a byte back never gets further.
        await eventually(() => expect(seenBytes()).toBe(sentBytes), 5_000);
      }
      response.end();
    };

    const opened = await open(router.origin, CHAT, { body: streamBody });
    seenBytes = () => opened.seen().length;

    expect((await opened.rest()).toString()).toBe(whole);
    expect(opened.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect(opened.headers["content-length"]).toBeUndefined();
    expect(opened.headers["content-encoding"]).toBeUndefined();
  });

  it("that loses its caller closes the engine's socket within a second", async () => {
    engine.answer = ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(STREAM[0] ?? "");
    };
    const opened = await open(router.origin, CHAT, { body: streamBody });
    const received = await engine.request(before);

    opened.socket.destroy();
    const leftAtMs = performance.now();

    expect((await received.cut) - leftAtMs).toBeLessThan(1_000);
    const receipt = await receiptOf(router.origin, String(opened.headers["sir-job-id"]));
    expect(receipt).toMatchObject({ status: "cancelled", error: { reason: "disconnect" } });
  });

  it("that its engine cuts ends with an error event and without [DONE]", async () => {
    engine.answer = async ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(STREAM[0] ?? "");
      await pause(50);
      response.socket?.destroy();
    };

    const reply = await ask(router.origin, CHAT, { body: streamBody });

    const [first, last] = [reply.text.slice(0, STREAM[0]?.length), reply.text.slice(STREAM[0]?.length)];
    expect(first).toBe(STREAM[0]);
    expect(last).toMatch(/^data: \{"error":\{"message":.*"code":"backend_error"\}\}\n\n$/);
  });
});
