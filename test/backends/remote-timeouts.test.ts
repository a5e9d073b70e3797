// The limits on a call's time, its abort, and that undici's own limits do not apply.

import type { ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { Agent } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { httpCall } from "../../src/backends/http-call.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { callOf, chatBody, Taken } from "./samples.ts";
import { httpUpstream, remoteAt, type Sent, send } from "./upstream.ts";

/** undici's own clock for its limits, which it lets tests move. */
const undiciTimers: { tick(delayMs: number): void } = createRequire(import.meta.url)("undici/lib/util/timers.js");

/** A limit that was set just now counts from the first tick on. */
function undiciPasses(ms: number): void {
  undiciTimers.tick(1000);
  undiciTimers.tick(ms);
}

const LIMITS = { firstByteTimeoutMs: 400_000, idleTimeoutMs: 10_000, runTimeoutMs: 1_000_000 };

/** A request that is under way on a virtual clock; the test writes the answer. */
async function underWay(sink = new Taken()) {
  const clock = new VirtualClock();
  let closed = (): void => {};
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  let arrive = (_response: ServerResponse): void => {};
  const arrived = new Promise<ServerResponse>((resolve) => {
    arrive = resolve;
  });
  const origin = await httpUpstream((request, response) => {
    request.socket.once("close", closed);
    request.resume();
    arrive(response);
  });
  const stop = new AbortController();
  const sent: Promise<Sent> = send(
    remoteAt(origin, {}, clock),
    callOf("/v1/chat/completions", chatBody({ stream: true }), LIMITS),
    stop.signal,
    sink,
  );
  return { clock, sent, stop, gone, sink, response: await arrived };
}

/** Lets real bytes arrive without any time passing on the virtual clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe("the limits on a call", () => {
  it("waits 350 s for a head and 350 s more for a first token, where undici gives up after 300 s (T10)", async () => {
    const { clock, sent, sink, response } = await underWay();

    undiciPasses(350_000);
    await clock.runUntil(clock.nowMs() + 350_000);
    response.setHeader("content-type", "text/event-stream").flushHeaders();
    await until(() => sink.heads.length === 1);
    undiciPasses(350_000);
    response.end("data: [DONE]\n\n");

    expect((await sent).outcome).toEqual({ kind: "succeeded" });
  });

  it("ends a call without a byte at its first-byte limit, and closes its socket", async () => {
    const { clock, sent, gone, response } = await underWay();
    response.setHeader("content-type", "text/event-stream").flushHeaders();

    await clock.runUntil(clock.nowMs() + 400_000);

    expect((await sent).outcome).toEqual({
      kind: "failed",
      code: "execution_timeout",
      detail: "no byte of an answer after 400 s",
    });
    await gone;
  });

  it("ends a call that falls silent between bytes, counted from the last one", async () => {
    const { clock, sent, gone, sink, response } = await underWay();
    response.setHeader("content-type", "text/event-stream").write(": a\n\n");
    await until(() => sink.chunks.length === 1);
    await clock.runUntil(clock.nowMs() + 9_000);
    response.write(": b\n\n");
    await until(() => sink.chunks.length === 2);
    await clock.runUntil(clock.nowMs() + 9_999);
    const before = await Promise.race([sent, Promise.resolve("still running")]);

    await clock.runUntil(clock.nowMs() + 1);

    expect(before).toBe("still running");
    expect((await sent).outcome).toMatchObject({ code: "execution_timeout", detail: "no further byte for 10 s" });
    await gone;
  });

  it("does not hold a caller's slowness against the engine, but ends the run at its limit", async () => {
    class Stuck extends Taken {
      override chunk(bytes: Uint8Array): Promise<void> {
        void super.chunk(bytes);
        return new Promise(() => {});
      }
    }
    const { clock, sent, sink, response } = await underWay(new Stuck());
    response.setHeader("content-type", "text/event-stream").write(": a\n\n");
    await until(() => sink.chunks.length === 1);

    await clock.runUntil(clock.nowMs() + 999_999);
    const before = await Promise.race([sent, Promise.resolve("still running")]);
    await clock.runUntil(clock.nowMs() + 1);

    expect(before).toBe("still running");
    expect((await sent).outcome).toMatchObject({ code: "execution_timeout", detail: "not finished after 1000 s" });
  });

  it("closes the engine's socket on abort, before and after the first byte (T7)", async () => {
    for (const begun of [false, true]) {
      const { sent, stop, gone, sink, response } = await underWay();
      if (begun) {
        response.setHeader("content-type", "text/event-stream").write(": a\n\n");
        await until(() => sink.chunks.length === 1);
      }
      const startedMs = performance.now();

      stop.abort();
      const { outcome } = await sent;
      await gone;

      expect(outcome).toEqual({ kind: "aborted" });
      expect(performance.now() - startedMs).toBeLessThan(1000);
    }
  });

  it("never sends a request whose signal was aborted before", async () => {
    let calls = 0;
    const origin = await httpUpstream((_request, response) => {
      calls++;
      response.end();
    });

    const { outcome } = await send(remoteAt(origin), callOf("/v1/embeddings", {}), AbortSignal.abort());

    expect(outcome).toEqual({ kind: "aborted" });
    expect(calls).toBe(0);
  });

  it("waits 5 s for the body of an error answer, whose status is verdict enough", async () => {
    const { clock, sent, gone, response } = await underWay();
    response.writeHead(500, { "content-type": "application/json" });
    response.write('{"error":');
    // Heard of the head: the nearest limit is now the error body's.
    await until(() => (clock.nextMs() ?? 0) <= clock.nowMs() + 5000);

    await clock.runUntil(clock.nowMs() + 5000);

    expect((await sent).outcome).toMatchObject({ code: "backend_error", detail: "the engine answered 500" });
    await gone;
  });

  it("does not wait for a connection that never comes when it is aborted or its limit passes", async () => {
    const clock = new VirtualClock();
    const dispatcher = new Agent({ connect: () => {} });
    onTestFinished(() => dispatcher.destroy());
    const to = { origin: "http://127.0.0.1:1", path: "/", headers: {} };
    const stop = new AbortController();
    const call = callOf("/v1/embeddings", {}, LIMITS);
    const stopped = httpCall(to, call, new Taken(), stop.signal, { clock, dispatcher });
    const timed = httpCall(to, call, new Taken(), new AbortController().signal, { clock, dispatcher });

    stop.abort();
    await clock.runUntil(clock.nowMs() + 400_000);

    expect(await stopped).toEqual({ kind: "aborted" });
    expect(await timed).toMatchObject({ code: "execution_timeout" });
  });
});
