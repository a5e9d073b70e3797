// The mock as a backend: the contract, its configured faults and the limits on a call.

import { describe, expect, it } from "vitest";
import { LoadError } from "../../src/backends/backend.ts";
import { exerciseBackend } from "./contract.ts";
import { never, passing, rig } from "./mock-rig.ts";
import { callOf, chatBody, instanceOf, placementOf, Taken } from "./samples.ts";

const CHAT = "/v1/chat/completions";

exerciseBackend(async () => {
  const { clock, backend } = rig();
  return {
    backend,
    placement: placementOf("chat-model"),
    call: () => callOf(CHAT, chatBody()),
    streamed: () => callOf(CHAT, chatBody({ stream: true })),
    refused: () => callOf(CHAT, { model: "chat-model" }),
    passing: (promise) => passing(clock, promise),
    midway: () => clock.runUntil(clock.nowMs() + 500),
  };
});

describe("the mock's configured faults", () => {
  it("fails the first loads at their end, with the engine's last words, and then loads", async () => {
    const { clock, backend, load } = rig({ failLoads: 2, loadSeconds: 4 });
    const startMs = clock.nowMs();

    const error = await load().catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(LoadError);
    expect(clock.nowMs() - startMs).toBe(4000);
    expect((error as LoadError).logTail.join("\n")).toContain("exited during its load");
    await expect(load()).rejects.toThrow(LoadError);
    await load();
    expect(backend.counts).toMatchObject({ loads: 3, failedLoads: 2 });
  });

  it("answers the first requests with 500, which the caller never sees", async () => {
    const { load, fly } = rig({ failRequests: 1 });
    await load();

    const first = await fly(callOf(CHAT, chatBody()));
    const second = await fly(callOf(CHAT, chatBody()));

    expect(first.outcome).toMatchObject({ kind: "failed", code: "backend_error" });
    expect(first.sink.heads).toEqual([]);
    expect(second.outcome).toEqual({ kind: "succeeded" });
  });

  it("dies in the request after the n-th, after two tokens, with all that is in flight (13)", async () => {
    const { clock, backend, load, launch, fly } = rig({
      crashAfterRequests: 2,
      firstTokenSeconds: 1,
      tokensPerSecond: 1,
    });
    await load();
    const streamed = launch(callOf(CHAT, chatBody({ stream: true, max_tokens: 50 })));
    const quiet = launch(callOf(CHAT, chatBody({ max_tokens: 50 })));
    await clock.runUntil(clock.nowMs() + 10_000);

    const fatal = await fly(callOf(CHAT, chatBody({ stream: true, max_tokens: 50 })));

    expect(fatal.tookMs).toBe(3000);
    expect(fatal.outcome).toMatchObject({ kind: "failed", detail: expect.stringContaining("in the middle") });
    expect((await streamed).outcome).toMatchObject({ kind: "failed" });
    expect((await quiet).outcome).toMatchObject({ kind: "lost" });
    expect(await backend.alive(instanceOf("chat-model"), never)).toBe(false);
    expect((await fly(callOf(CHAT, chatBody()))).outcome).toMatchObject({ kind: "lost" });
    await load();
    expect((await fly(callOf(CHAT, chatBody()))).outcome).toEqual({ kind: "succeeded" });
  });

  it("hangs after the n-th request until a limit ends it, and still looks alive", async () => {
    const { backend, load, fly } = rig({ hangAfterRequests: 1 });
    await load();
    await fly(callOf(CHAT, chatBody()));

    const hung = await fly(callOf(CHAT, chatBody(), { firstByteTimeoutMs: 7000 }));

    expect(hung.outcome).toEqual({
      kind: "failed",
      code: "execution_timeout",
      detail: "no byte of an answer after 7 s",
    });
    expect(hung.tookMs).toBe(7000);
    expect(await backend.alive(instanceOf("chat-model"), never)).toBe(true);
  });
});

describe("the mock's limits", () => {
  it("counts a stream's silence from its last byte, and the run from its start", async () => {
    const { load, fly } = rig({ firstTokenSeconds: 1, tokensPerSecond: 0.1 });
    await load();
    const body = chatBody({ stream: true, max_tokens: 5 });

    const silent = await fly(callOf(CHAT, body, { idleTimeoutMs: 9999 }));
    const long = await fly(callOf(CHAT, body, { idleTimeoutMs: 10_001, runTimeoutMs: 25_000 }));

    expect(silent).toMatchObject({ tookMs: 1000 + 9999, outcome: { detail: "no further byte for 9.999 s" } });
    expect(long).toMatchObject({ tookMs: 25_000, outcome: { detail: "not finished after 25 s" } });
  });

  it("ends a run whose caller takes nothing at its limit, and at an abort at once", async () => {
    class Stuck extends Taken {
      override chunk(): Promise<void> {
        return new Promise(() => {});
      }
    }
    const { clock, backend, load } = rig();
    await load();
    const stop = new AbortController();
    const call = callOf(CHAT, chatBody({ stream: true }), { runTimeoutMs: 5000 });
    const timed = backend.run(instanceOf("chat-model"), call, new Stuck(), never);
    const stopped = backend.run(instanceOf("chat-model"), call, new Stuck(), stop.signal);
    await clock.runUntil(clock.nowMs() + 1000);

    stop.abort();

    expect(await stopped).toEqual({ kind: "aborted" });
    expect(await passing(clock, timed)).toMatchObject({ code: "execution_timeout" });
  });

  it("keeps on generating while the caller pauses, as an engine's buffers do", async () => {
    let open: () => void = () => {};
    class Paused extends Taken {
      override chunk(bytes: Uint8Array): Promise<void> | void {
        void super.chunk(bytes);
        if (this.chunks.length === 1) return new Promise((resolve) => (open = resolve));
      }
    }
    const { clock, backend, load } = rig({ firstTokenSeconds: 0, tokensPerSecond: 1 });
    await load();
    const sink = new Paused(() => clock.nowMs());
    const startMs = clock.nowMs();
    const run = backend.run(
      instanceOf("chat-model"),
      callOf(CHAT, chatBody({ stream: true, max_tokens: 4 })),
      sink,
      never,
    );
    await clock.runUntil(startMs + 2500);

    open();

    expect(await passing(clock, run)).toEqual({ kind: "succeeded" });
    expect(sink.atMs.map((atMs) => atMs - startMs)).toEqual([0, 2500, 2500, 2500, 3000, 4000]);
  });

  it("sets no timer that outlives its requests", async () => {
    const { clock, load, fly } = rig({ slowdownPerJob: 0.5 });
    await load();

    await fly(callOf(CHAT, chatBody({ max_tokens: 3 })));

    expect(clock.nextMs()).toBeNull();
  });
});
