// The mock's arithmetic of time: first token, tokens, loads, and slowdown under company.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { passing, rig } from "./mock-rig.ts";
import { callOf, chatBody } from "./samples.ts";

const TIMING = { firstTokenSeconds: 0.2, tokensPerSecond: 40 };

describe("the mock's timing", () => {
  it("answers in one piece after the first token and all tokens", async () => {
    const { load, fly } = rig(TIMING);
    await load();

    const { outcome, tookMs, sink } = await fly(callOf("/v1/chat/completions", chatBody({ max_tokens: 100 })));

    expect(outcome).toEqual({ kind: "succeeded" });
    expect(tookMs).toBe(200 + 100 * 25);
    expect(sink.json["usage"]).toMatchObject({ completion_tokens: 100 });
  });

  it("streams one chunk a token, each at its own instant", async () => {
    const { load, fly } = rig(TIMING);
    await load();

    const body = chatBody({ max_tokens: 4, stream: true });
    const { sink, tookMs } = await fly(callOf("/v1/chat/completions", body));

    const sinceStartMs = sink.atMs.map((atMs) => atMs - (sink.atMs[0] ?? 0));
    expect(sinceStartMs).toEqual([0, 0, 25, 50, 75, 100]);
    expect(tookMs).toBe(300);
  });

  it("loads and unloads in the time it was told", async () => {
    const { clock, backend, load } = rig({ loadSeconds: 8, unloadSeconds: 1.5 });
    const startMs = clock.nowMs();

    await load();
    const loadedMs = clock.nowMs();
    const [instance] = await backend.inspect();
    const stopped = instance && (await passing(clock, backend.stop(instance, 10_000, new AbortController().signal)));

    expect(loadedMs - startMs).toBe(8000);
    expect(stopped).toEqual({ memory: "free" });
    expect(clock.nowMs() - loadedMs).toBe(1500);
    expect(await backend.inspect()).toEqual([]);
  });

  it("runs n requests at 1/(1+alpha(n-1)) of the pace while they overlap", async () => {
    const { clock, load, launch } = rig({ ...TIMING, firstTokenSeconds: 0, tokensPerSecond: 1, slowdownPerJob: 1 });
    await load();

    const long = launch(callOf("/v1/chat/completions", chatBody({ max_tokens: 10 })));
    await clock.runUntil(clock.nowMs() + 4000);
    const short = launch(callOf("/v1/chat/completions", chatBody({ max_tokens: 1 })));

    // 4 s alone, then both at half the pace until the short one has its 1 s of work, then 5 s alone.
    expect((await passing(clock, short)).tookMs).toBeCloseTo(2000, 6);
    expect((await passing(clock, long)).tookMs).toBeCloseTo(4000 + 2000 + 5000, 6);
  });

  it("does exactly the work that was asked, whatever joins and leaves", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ gapMs: fc.nat(5000), tokens: fc.integer({ min: 1, max: 20 }) }), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.double({ min: 0.01, max: 3, noNaN: true }),
        async (arrivals, alpha) => {
          const { clock, load, launch } = rig({ firstTokenSeconds: 0, tokensPerSecond: 1, slowdownPerJob: alpha });
          await load();
          const spans: { fromMs: number; toMs: number; workMs: number }[] = [];
          const all: Promise<void>[] = [];
          for (const { gapMs, tokens } of arrivals) {
            await clock.runUntil(clock.nowMs() + gapMs);
            const fromMs = clock.nowMs();
            const call = callOf("/v1/chat/completions", chatBody({ max_tokens: tokens }));
            all.push(
              launch(call).then(({ tookMs }) => {
                spans.push({ fromMs, toMs: fromMs + tookMs, workMs: tokens * 1000 });
              }),
            );
          }
          await passing(clock, Promise.all(all));

          for (const span of spans) expect(workDone(span, spans, alpha)).toBeCloseTo(span.workMs, 3);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** The integral of the rate over one span, from the spans alone. */
function workDone(
  span: { fromMs: number; toMs: number },
  all: readonly { fromMs: number; toMs: number }[],
  alpha: number,
): number {
  const edges = [...new Set(all.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))].sort((a, b) => a - b);
  let work = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    const fromMs = edges[i] ?? 0;
    const toMs = edges[i + 1] ?? 0;
    if (fromMs < span.fromMs || toMs > span.toMs) continue;
    const n = all.filter((other) => other.fromMs <= fromMs && other.toMs >= toMs).length;
    work += (toMs - fromMs) / (1 + alpha * (n - 1));
  }
  return work;
}
