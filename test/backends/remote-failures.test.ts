// What each way an engine can fail is called, and that nothing of it leaks to the caller.

import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { callOf, chatBody, instanceOf } from "./samples.ts";
import { bodyOf, httpUpstream, rawUpstream, remoteAt, send } from "./upstream.ts";

const CHAT = "/v1/chat/completions";
const call = () => callOf(CHAT, chatBody());
const streamed = () => callOf(CHAT, chatBody({ stream: true }));

const head = (status: string, headers = ""): string => `HTTP/1.1 ${status}\r\n${headers}\r\n`;

async function outcomeOf(origin: string, which = call()) {
  return (await send(remoteAt(origin), which)).outcome;
}

describe("what an engine's failure is called", () => {
  it("is lost when the connection is refused", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
    });
    await new Promise((resolve) => server.close(resolve));

    expect(await outcomeOf(`http://127.0.0.1:${port}`)).toEqual({ kind: "lost", detail: "connection refused" });
  });

  it("is lost when the connection is reset or closed before a byte", async () => {
    const reset = await rawUpstream((socket) => socket.resetAndDestroy());
    const closed = await rawUpstream((socket) => socket.end());

    expect((await outcomeOf(reset)).kind).toBe("lost");
    expect((await outcomeOf(closed)).kind).toBe("lost");
  });

  it("is failed when the body is cut: reset, short of its length, or inside a chunk", async () => {
    const reset = await httpUpstream((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"id":', () => response.socket?.resetAndDestroy());
    });
    const short = await rawUpstream((socket) => socket.end(`${head("200 OK", "content-length: 100\r\n")}{"id":`));
    const inChunk = await rawUpstream((socket) =>
      socket.end(`${head("200 OK", "transfer-encoding: chunked\r\n")}ff\r\n{"i`),
    );

    for (const origin of [reset, short, inChunk]) {
      const { outcome, sink } = await send(remoteAt(origin), call());
      expect(outcome).toMatchObject({ kind: "failed", code: "backend_error" });
      expect(outcome).toMatchObject({ detail: expect.stringContaining("cut before its end") });
      expect(sink.heads).toHaveLength(1);
    }
  });

  it("is failed when a stream ends cleanly without [DONE], or holds an error (18: both were a success)", async () => {
    const cut = await httpUpstream((_request, response) => {
      response.setHeader("content-type", "text/event-stream").end('data: {"choices":[]}\n\n');
    });
    const inBand = await httpUpstream((_request, response) => {
      response.setHeader("content-type", "text/event-stream");
      response.end('data: {"error": {"message":"CUDA"}}\n\ndata: [DONE]\n\n');
    });
    const plain = await httpUpstream((_request, response) => {
      response.setHeader("content-type", "application/json").end('{"error":{"message":"CUDA"}}');
    });

    expect(await outcomeOf(cut, streamed())).toMatchObject({
      kind: "failed",
      detail: expect.stringContaining("[DONE]"),
    });
    expect(await outcomeOf(inBand, streamed())).toMatchObject({
      kind: "failed",
      detail: expect.stringContaining("inside"),
    });
    expect(await outcomeOf(plain)).toMatchObject({ kind: "failed", detail: expect.stringContaining("2xx") });
  });

  it("is failed for an HTML 502, and nothing of it reaches the caller", async () => {
    const origin = await httpUpstream((_request, response) => {
      response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
    });

    const { outcome, sink } = await send(remoteAt(origin), call());

    expect(outcome).toEqual({ kind: "failed", code: "backend_error", detail: "the engine answered 502" });
    expect(sink.heads).toEqual([]);
    expect(sink.chunks).toEqual([]);
  });

  it("says an error's own message, on one line and 300 characters long at most", async () => {
    const message = `out of\nmemory ${"x".repeat(1000)}`;
    const origin = await httpUpstream((_request, response) => {
      response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
    });

    const outcome = await outcomeOf(origin);

    if (outcome.kind !== "failed") throw new Error(outcome.kind);
    expect(outcome.detail).toMatch(/^the engine answered 500: out of memory x{280,}$/);
    expect(outcome.detail.length).toBeLessThanOrEqual(325);
  });

  it("gives up on an error body that never ends", async () => {
    const endless = await httpUpstream((_request, response) => {
      response.writeHead(500, { "content-type": "text/plain" });
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", more);
      more();
    });

    expect(await outcomeOf(endless)).toMatchObject({ kind: "failed", detail: "the engine answered 500" });
  });

  it.each([
    ["7", 7000],
    ["Mon, 30 Nov 2026 12:00:30 GMT", 30_000],
    ["soon", null],
    [null, null],
  ])("is busy for 429 and 503, with Retry-After %s", async (text, retryAfterMs) => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 30, 12));
    for (const status of [429, 503]) {
      const origin = await httpUpstream((_request, response) => {
        response.writeHead(status, text === null ? {} : { "retry-after": text }).end("{}");
      });

      const { outcome, sink } = await send(remoteAt(origin, {}, clock), call());

      expect(outcome).toMatchObject({ kind: "busy", retryAfterMs });
      expect(sink.heads).toEqual([]);
    }
  });

  it("is failed for a redirect, which is never followed", async () => {
    let calls = 0;
    const origin = await httpUpstream((_request, response) => {
      calls++;
      response.writeHead(307, { location: "/v1/elsewhere" }).end();
    });

    expect(await outcomeOf(origin)).toMatchObject({ kind: "failed", detail: expect.stringContaining("307") });
    expect(calls).toBe(1);
  });

  it("is failed when the engine zips in spite of identity", async () => {
    const origin = await httpUpstream((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" }).end("\x1f\x8b");
    });

    expect(await outcomeOf(origin)).toMatchObject({ kind: "failed", detail: expect.stringContaining("gzip") });
  });

  it("is failed when what comes is not HTTP", async () => {
    const origin = await rawUpstream((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));

    expect(await outcomeOf(origin)).toMatchObject({ kind: "failed", detail: expect.stringContaining("not HTTP") });
  });

  it("is failed, not lost, when the stored request cannot be read or is shorter than it said", async () => {
    const origin = await httpUpstream(async (request, response) => {
      await bodyOf(request).catch(() => {});
      response.end("{}");
    });
    const unreadable = callOf(CHAT, chatBody(), {
      // biome-ignore lint/correctness/useYield: it fails before it yields
      body: async function* () {
        throw new Error("disk");
      },
    });
    const short = callOf(CHAT, chatBody(), { sizeBytes: 10_000 });

    expect(await outcomeOf(origin, unreadable)).toMatchObject({
      kind: "failed",
      detail: "the stored request could not be read",
    });
    expect(await outcomeOf(origin, short)).toMatchObject({ kind: "failed" });
  });

  it("passes an early refusal on although the body was not taken to its end", async () => {
    const origin = await httpUpstream((_request, response) => {
      response.writeHead(413, { "content-type": "application/json" }).end('{"error":{"message":"too large"}}');
    });

    const { outcome, sink } = await send(remoteAt(origin), callOf(CHAT, Buffer.alloc(4 * 1024 * 1024, 32)));

    expect(outcome).toEqual({ kind: "refused" });
    expect(sink.text).toContain("too large");
  });
});

describe("alive", () => {
  it("is true for whatever answers, false for 5xx and for silence", async () => {
    const clock = new VirtualClock();
    const never = new AbortController().signal;
    const instance = instanceOf("chat-model");
    const seen: string[] = [];
    const ok = await httpUpstream((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.end("{}");
    });
    const locked = await httpUpstream((_request, response) => response.writeHead(401).end());
    const dead = await httpUpstream((_request, response) => response.writeHead(503).end());
    let asked: () => void = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const silent = await httpUpstream(() => asked());

    expect(await remoteAt(ok, { apiKey: "k" }, clock).alive(instance, never)).toBe(true);
    expect(seen).toEqual(["GET /v1/models Bearer k"]);
    expect(await remoteAt(locked, {}, clock).alive(instance, never)).toBe(true);
    expect(await remoteAt(dead, {}, clock).alive(instance, never)).toBe(false);
    const waiting = remoteAt(silent, {}, clock).alive(instance, never);
    await arrived;
    await clock.runUntil(clock.nowMs() + 5000);
    expect(await waiting).toBe(false);
  });
});
