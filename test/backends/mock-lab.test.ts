// What tests and simulations make a mock engine do wrong, and the ledger that watches a device's memory.

import { describe, expect, it } from "vitest";
import type { LoadFault, RequestFault, StopFault } from "../../src/backends/mock/faults.ts";
import { GpuLedger } from "../../src/backends/mock/gpu-ledger.ts";
import { createMockBackend, mockOptions } from "../../src/backends/mock.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { type Landing, never, passing, rig } from "./mock-rig.ts";
import { callOf, chatBody, GPU, instanceOf, placementOf, specOf } from "./samples.ts";

const CHAT = "/v1/chat/completions";

function withFault(fault: RequestFault) {
  return rig({ firstTokenSeconds: 1, tokensPerSecond: 1 }, { faults: { request: () => fault } });
}

async function landing(fault: RequestFault, stream: boolean): Promise<Landing> {
  const { load, fly } = withFault(fault);
  await load();
  return fly(callOf(CHAT, chatBody({ stream, max_tokens: 5 })));
}

describe("a fault that a test gives a request", () => {
  it.each<[string, RequestFault, string, string]>([
    ["429", { kind: "status", status: 429, retryAfterMs: 3000 }, "busy", "busy"],
    ["503", { kind: "status", status: 503 }, "busy", "busy"],
    ["500", { kind: "status", status: 500 }, "failed", "failed"],
    ["307", { kind: "status", status: 307 }, "failed", "failed"],
    ["400", { kind: "status", status: 400, body: "no" }, "refused", "refused"],
    ["death at once", { kind: "die", afterTokens: 0 }, "lost", "lost"],
    ["death in the middle", { kind: "die", afterTokens: 3 }, "lost", "failed"],
    ["cut at once", { kind: "cut", afterTokens: 0 }, "lost", "lost"],
    ["cut in the middle", { kind: "cut", afterTokens: 3 }, "failed", "failed"],
    ["cut before its end", { kind: "cut", afterTokens: Number.POSITIVE_INFINITY }, "failed", "failed"],
    ["no terminator", { kind: "no_terminator" }, "succeeded", "failed"],
    ["an error inside", { kind: "in_band_error", afterTokens: 2 }, "failed", "failed"],
    ["garbage", { kind: "garbage" }, "succeeded", "failed"],
    ["slowness", { kind: "slow", speed: 0.5 }, "succeeded", "succeeded"],
  ])("%s comes to the outcome a real engine's would", async (_name, fault, whole, stream) => {
    expect((await landing(fault, false)).outcome.kind).toBe(whole);
    expect((await landing(fault, true)).outcome.kind).toBe(stream);
  });

  it("gives as many tokens as it said before it breaks", async () => {
    const { sink, tookMs } = await landing({ kind: "cut", afterTokens: 3 }, true);

    // One chunk opens the stream.
    expect(sink.chunks).toHaveLength(1 + 3);
    expect(tookMs).toBe(1000 + 3000);
  });

  it("halves the pace of a slow request", async () => {
    expect((await landing({ kind: "slow", speed: 0.5 }, false)).tookMs).toBe(12_000);
  });

  it("keeps the socket open after an abort when it ignores it, and gives the sink nothing more", async () => {
    const { clock, load, launch } = withFault({ kind: "ignores_abort" });
    await load();
    const stop = new AbortController();
    const startMs = clock.nowMs();
    const run = launch(callOf(CHAT, chatBody({ stream: true, max_tokens: 5 })), stop.signal);
    await clock.runUntil(startMs + 2500);

    stop.abort();
    const { outcome, sink } = await passing(clock, run);

    expect(outcome).toEqual({ kind: "aborted" });
    expect(clock.nowMs() - startMs).toBe(6000);
    expect(sink.chunks).toHaveLength(3);
  });

  it("hangs past an abort until its engine is stopped", async () => {
    const { clock, backend, load, launch } = withFault({ kind: "hang", afterTokens: 0, ignoresAbort: true });
    await load();
    const stop = new AbortController();
    const run = launch(callOf(CHAT, chatBody()), stop.signal);
    await clock.runUntil(clock.nowMs() + 1000);
    stop.abort();
    await clock.runUntil(clock.nowMs() + 10_000);
    const before = await Promise.race([run, Promise.resolve("open")]);

    await passing(clock, backend.stop(instanceOf("chat-model"), 1000, never));

    expect(before).toBe("open");
    expect((await run).outcome).toEqual({ kind: "aborted" });
  });
});

describe("a fault that a test gives a load or a stop", () => {
  const loading = (fault: LoadFault) => rig({ loadSeconds: 4 }, { faults: { load: () => fault } });
  const stopping = (fault: StopFault) => rig({ unloadSeconds: 1 }, { faults: { stop: () => fault } });

  it("loads slowly, fails early, or never comes up", async () => {
    const slow = loading({ kind: "slow", loadMs: 60_000 });
    const early = loading({ kind: "fail", afterMs: 50, message: "exit code 1", logTail: ["boom"] });
    const hung = loading({ kind: "hang" });
    const startMs = slow.clock.nowMs();

    await slow.load();
    expect(slow.clock.nowMs() - startMs).toBe(60_000);

    await expect(early.load()).rejects.toMatchObject({ message: "exit code 1", logTail: ["boom"] });
    expect(early.clock.nowMs() - startMs).toBe(50);

    await expect(hung.load()).rejects.toThrow("never settle");
  });

  it("comes up and dies by itself later", async () => {
    const { clock, backend, load } = loading({ kind: "die_later", afterMs: 30_000 });
    await load();
    const before = await backend.alive(instanceOf("chat-model"), never);

    await clock.runUntil(clock.nowMs() + 30_000);

    expect(before).toBe(true);
    expect(await backend.alive(instanceOf("chat-model"), never)).toBe(false);
    expect(await backend.inspect()).toEqual([]);
  });

  it("will not stop, and stays resident (llama-swap T5)", async () => {
    const ledger = new GpuLedger();
    const { clock, backend, load } = rig({}, { ledger, faults: { stop: () => ({ kind: "ignores" }) } });
    await load();
    const startMs = clock.nowMs();

    const stop = passing(clock, backend.stop(instanceOf("chat-model"), 5000, never));

    await expect(stop).rejects.toThrow("did not stop within 5 s");
    expect(clock.nowMs() - startMs).toBe(5000);
    expect(ledger.holders(GPU)).toEqual(["chat-model"]);
    expect(await backend.inspect()).toHaveLength(1);
  });

  it("stops slowly, or cannot say whether its memory is free", async () => {
    const slow = stopping({ kind: "slow", unloadMs: 9000 });
    await slow.load();
    const startMs = slow.clock.nowMs();
    await passing(slow.clock, slow.backend.stop(instanceOf("chat-model"), 1000, never));
    expect(slow.clock.nowMs() - startMs).toBe(9000);

    const unknown = stopping({ kind: "unknown_memory" });
    await unknown.load();
    const stopped = await passing(unknown.clock, unknown.backend.stop(instanceOf("chat-model"), 1000, never));
    expect(stopped).toEqual({ memory: "unknown" });
  });
});

describe("the ledger of GPU memory", () => {
  function pair(ledger: GpuLedger, gibA: number | null = null, gibB: number | null = null) {
    const clock = new VirtualClock();
    const options = mockOptions.parse({ loadSeconds: 4, unloadSeconds: 1 });
    const a = createMockBackend(specOf("a", gibA), options, { clock }, { ledger });
    const b = createMockBackend(specOf("b", gibB), options, { clock }, { ledger });
    return { clock, a, b };
  }

  it("refuses and records a load on top of a load, a resident or an unfinished stop (llama-swap T4)", async () => {
    const ledger = new GpuLedger();
    const { clock, a, b } = pair(ledger);
    const loading = a.start(placementOf("a"), () => {}, never);
    await expect(b.start(placementOf("b"), () => {}, never)).rejects.toThrow("out of memory");
    await passing(clock, loading);
    await expect(b.start(placementOf("b"), () => {}, never)).rejects.toThrow("out of memory");
    const stopping = a.stop(instanceOf("a"), 1000, never);
    await expect(b.start(placementOf("b"), () => {}, never)).rejects.toThrow("out of memory");
    await passing(clock, stopping);

    await passing(
      clock,
      b.start(placementOf("b"), () => {}, never),
    );

    expect(ledger.violations).toHaveLength(3);
    expect(ledger.violations[0]).toBe("b was loaded on gpu0 while a held it");
    expect(ledger.holders(GPU)).toEqual(["b"]);
  });

  it("is freed by a failed load, a given-up load and a crash", async () => {
    const ledger = new GpuLedger();
    const { clock, a } = pair(ledger);
    const stop = new AbortController();
    const load = a.start(placementOf("a"), () => {}, stop.signal);
    stop.abort();
    await expect(load).rejects.toThrow("given up");
    expect(ledger.holders(GPU)).toEqual([]);

    await passing(
      clock,
      a.start(placementOf("a"), () => {}, never),
    );
    a.crash(placementOf("a").instance);
    expect(ledger.holders(GPU)).toEqual([]);
    expect(ledger.violations).toEqual([]);
  });

  it("lets models share a device whose size it knows", async () => {
    const ledger = new GpuLedger(new Map([[GPU, 100]]));
    const { clock, a, b } = pair(ledger, 60, 40);

    await passing(clock, Promise.all([a, b].map((each, i) => each.start(placementOf("ab"[i] ?? ""), () => {}, never))));

    expect(ledger.holders(GPU)).toEqual(["a", "b"]);
    expect(ledger.occupy(placementOf("c"), 1)).toBe(false);
  });
});

describe("a router that is killed", () => {
  it("leaves its engines resident, with their connections closed", async () => {
    const { clock, backend, load, launch, fly } = rig();
    await load();
    const run = launch(callOf(CHAT, chatBody({ max_tokens: 1000 })));
    await clock.runUntil(clock.nowMs() + 1000);

    backend.dropConnections();

    expect((await run).sink.heads).toEqual([]);
    expect(await backend.inspect()).toHaveLength(1);
    expect((await fly(callOf(CHAT, chatBody()))).outcome).toEqual({ kind: "succeeded" });
  });
});
