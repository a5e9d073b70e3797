// Which jobs are traced, at what pace, and what is dropped; the SDK itself is tested against a receiver in test/e2e.

import { describe, expect, it } from "vitest";
import type { RouterEvent } from "../../src/domain/event.ts";
import type { Job } from "../../src/domain/job.ts";
import { attemptSpanId, traceParentOf } from "../../src/domain/trace-id.ts";
import type { TraceExporter } from "../../src/trace/exporter.ts";
import type { SpanDraft } from "../../src/trace/job-trace.ts";
import { Tracing, wantsTraces } from "../../src/trace/tracing.ts";
import { usageIn } from "../../src/trace/usage.ts";
import { openRig, type Rig } from "../engine/rig.ts";

interface Written {
  readonly drafts: readonly SpanDraft[];
  readonly under: ReturnType<typeof traceParentOf> | null;
}

function tracingOf(rig: Rig, store = rig.store) {
  const written: Written[] = [];
  const counted: Record<string, number> = {};
  const warnings: string[] = [];
  let sent: (outcome: "sent" | "failed" | "dropped", spans: number) => void = () => undefined;
  const exporter = {
    write: (drafts: readonly SpanDraft[], under: Written["under"]) => {
      written.push({ drafts, under });
      return { traceId: "t", spanId: `s${written.length}`, traceFlags: 1 };
    },
    close: () => Promise.resolve(),
  } as unknown as TraceExporter;
  const deps = {
    ...{ environment: {}, clock: rig.clock, store, version: "0", providerOf: () => "mock" },
    count: (outcome: string, spans: number) => {
      counted[outcome] = (counted[outcome] ?? 0) + spans;
    },
    warn: (text: string) => void warnings.push(text),
  };
  const tracing = new Tracing(deps, (count) => {
    sent = count;
    return exporter;
  });
  return { tracing, written, counted, warnings, sent: (...told: Parameters<typeof sent>) => sent(...told) };
}

async function traced(rig: Rig) {
  const made = tracingOf(rig);
  for (const { event } of rig.events) made.tracing.listen(event);
  await rig.advance(5);
  return made;
}

describe("a job's trace", () => {
  it("has one child for each stretch of its wait and for each attempt, and they fill its life", async () => {
    const rig = await openRig({ models: { a: { loadSeconds: 3 }, b: { loadSeconds: 5 } } });
    await rig.submit("a", { tokens: 640, leaseMs: null });
    await rig.advance(1);
    const id = await rig.submit("b", { leaseMs: null });
    await rig.advance(120);

    const { written } = await traced(rig);

    const [root, ...children] = written.find(({ drafts }) => drafts[0]?.attributes["sir.job.id"] === id)?.drafts ?? [];
    expect(root).toMatchObject({ name: "sir.job", error: null });
    const attempts = children.filter(({ client }) => client);
    const waits = children.filter(({ client }) => !client);
    expect(attempts.map(({ name }) => name)).toEqual(["chat b"]);
    expect(waits.map(({ attributes }) => attributes["sir.cause"])).toEqual(expect.arrayContaining(["held", "loading"]));
    const length = ({ fromMs, toMs }: SpanDraft): number => toMs - fromMs;
    const sum = children.reduce((all, each) => all + length(each), 0);
    expect(Math.abs(sum - (root === undefined ? 0 : length(root)))).toBeLessThan(2);
  });

  it("tells a failed attempt from the one that followed, each under the id that its engine was sent", async () => {
    const faults = {
      request: (_: unknown, nth: number) => (nth === 1 ? { kind: "status" as const, status: 500 } : null),
    };
    const rig = await openRig({ models: { a: { loadSeconds: 1 } }, faults });
    const id = await rig.submit("a", { leaseMs: null });
    await rig.advance(60);
    const attempts = await rig.store.attempts(id);

    const { written } = await traced(rig);

    const drafts = written.flatMap(({ drafts: all }) => all).filter(({ client }) => client);
    expect(drafts.map(({ spanId }) => spanId)).toEqual(attempts.map(({ epoch }) => attemptSpanId({ id }, epoch)));
    expect(drafts.map(({ error }) => error)).toEqual(["failed", null]);
    expect(new Set(drafts.map(({ spanId }) => spanId)).size).toBe(2);
  });
});

describe("tracing", () => {
  const finished = (job: string): RouterEvent =>
    ({ type: "job.finished", job, model: "a", band: "normal", status: "succeeded" }) as unknown as RouterEvent;

  it("traces 100 jobs a second at most, lets 2,000 wait, and drops and counts what is more", async () => {
    const rig = await openRig({ models: { a: { loadSeconds: 0 } } });
    const id = await rig.submit("a", { leaseMs: null });
    await rig.advance(10);
    const { tracing, written, counted, warnings } = tracingOf(rig);

    for (let n = 0; n < 2_500; n++) tracing.listen(finished(id));
    await rig.advance(1.05);
    const first = written.length;
    await rig.advance(1);

    expect([first, written.length - first]).toEqual([10, 100]);
    expect([counted, warnings.length]).toEqual([{ dropped: 500 }, 1]);
    await rig.advance(30);
    expect(written).toHaveLength(2_000);
  });

  it("goes on when the store does not answer, and says so once a minute", async () => {
    const rig = await openRig({ models: { a: {} } });
    const broken = { ...rig.store, job: () => Promise.reject(new Error("away")) } as unknown as Rig["store"];
    const { tracing, counted, warnings } = tracingOf(rig, broken);

    for (let n = 0; n < 3; n++) tracing.listen(finished(`job_${"0".repeat(32)}`));
    await rig.advance(5);

    expect([counted, warnings.length]).toEqual([{ dropped: 3 }, 1]);
  });

  it("counts what was sent and what was not, and warns of that once a minute", async () => {
    const rig = await openRig({ models: { a: {} } });
    const { counted, warnings, sent } = tracingOf(rig);

    sent("sent", 10);
    for (let n = 0; n < 5; n++) sent("failed", 2);
    await rig.advance(61);
    sent("failed", 1);

    expect([counted, warnings.length]).toEqual([{ sent: 10, failed: 11 }, 2]);
  });

  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x" }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://x/v1/traces" }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_SDK_DISABLED: "true" }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_TRACES_EXPORTER: "none" }, false],
  ])("is wanted by %j: %s", (environment, wanted) => {
    expect(wantsTraces(environment)).toBe(wanted);
  });
});

describe("ids", () => {
  const id = `job_${"0123456789abcdef".repeat(2)}` as Job["id"];

  it("are the caller's trace and span, or the job's own trace", () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;

    expect(traceParentOf({ id, traceparent })).toEqual({
      traceId: "a".repeat(32),
      parentId: "b".repeat(16),
      flags: "00",
    });
    expect(traceParentOf({ id, traceparent: null })).toEqual({ traceId: id.slice(4), parentId: null, flags: "01" });
  });

  it("of attempts are sixteen digits, and another for each", () => {
    const ids = Array.from({ length: 100 }, (_, epoch) => attemptSpanId({ id }, epoch));

    expect(new Set(ids).size).toBe(100);
    expect(ids.every((each) => /^[0-9a-f]{16}$/.test(each))).toBe(true);
  });
});

describe("usage", () => {
  it.each([
    ['{"usage":{"prompt_tokens":3,"completion_tokens":4}}', { inputTokens: 3, outputTokens: 4 }],
    ['{"usage":{"input_tokens":3,"output_tokens":4}}', { inputTokens: 3, outputTokens: 4 }],
    ['{"usage":{"prompt_tokens":-1}}', { inputTokens: null, outputTokens: null }],
    ['{"usage":null}', null],
    ["{}", null],
    ["{", null],
    ["data: x", null],
    ["", null],
  ])("of %s is %j", (body, usage) => {
    expect(usageIn(Buffer.from(body))).toEqual(usage);
  });
});
