// The SDK behind traces against a receiver that takes its time: what the queue holds, and that nothing leaves unseen.

import { afterEach, expect, it, vi } from "vitest";
import { TraceExporter } from "../../src/trace/exporter.ts";
import type { SpanDraft } from "../../src/trace/job-trace.ts";
import { otlpReceiver } from "./receiver.ts";

vi.setConfig({ testTimeout: 60_000 });
afterEach(() => vi.unstubAllEnvs());

function draft(name: string): SpanDraft {
  const at = { fromMs: 1_000, toMs: 2_000, firstByteAtMs: null };
  return { name, spanId: null, client: false, ...at, attributes: {}, error: null, loadOn: null };
}

it("drops whole traces when its queue is full, counts each of their spans, and sends the others", async () => {
  const receiver = await otlpReceiver();
  let release = (): void => undefined;
  receiver.held = new Promise((resolve) => {
    release = resolve;
  });
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  const counted = { sent: 0, failed: 0, dropped: 0 };
  const exporter = new TraceExporter({
    ...{ version: "0", serviceName: "test" },
    count: (outcome, spans) => {
      counted[outcome] += spans;
    },
  });

  const contexts = Array.from({ length: 2_000 }, () => exporter.write([draft("job"), draft("a"), draft("b")], null, 0));
  release();
  await exporter.close();

  const kept = contexts.filter((context) => context !== null);
  expect(kept.length).toBeLessThan(contexts.length);
  expect(counted).toEqual({ sent: 3 * kept.length, failed: 0, dropped: 3 * (contexts.length - kept.length) });
  const byTrace = new Map<string, number>();
  for (const { traceId } of receiver.spans) byTrace.set(traceId, (byTrace.get(traceId) ?? 0) + 1);
  expect([byTrace.size, [...new Set(byTrace.values())]]).toEqual([kept.length, [3]]);
});

it("lets no wait begin before its job because instants have fractions", async () => {
  const receiver = await otlpReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  const exporter = new TraceExporter({ version: "0", serviceName: "test", count: () => undefined });

  exporter.write(
    [
      { ...draft("job"), fromMs: 1_000.4 },
      { ...draft("wait"), fromMs: 1_000, toMs: 1_500 },
    ],
    null,
    0.7,
  );
  await exporter.close();

  const starts = receiver.spans.map(({ name, startTimeUnixNano }) => [name, Number(startTimeUnixNano) / 1e6]);
  expect(starts).toEqual([
    ["job", 1_001],
    ["wait", 1_001],
  ]);
});
