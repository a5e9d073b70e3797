import { describe, expect, it } from "vitest";
import { type AttemptFacts, afterAttempt } from "../../src/engine/retry.ts";

const facts = (over: Partial<AttemptFacts> = {}): AttemptFacts => ({
  attempts: 1,
  interruptions: 0,
  maxAttempts: 3,
  maxInterruptions: 10,
  delivered: false,
  interruption: null,
  ...over,
});
const failed = { kind: "failed", code: "backend_error", detail: "the stream was cut" } as const;
const lost = { kind: "lost", detail: "connection refused" } as const;

describe("after an attempt", () => {
  it("charges an attempt for a failure and backs off 1 s, then 2 s, then gives up", () => {
    expect(afterAttempt(failed, facts())).toMatchObject({ kind: "requeue", charge: "attempt", delayMs: 1_000 });
    expect(afterAttempt(failed, facts({ attempts: 2 }))).toMatchObject({ charge: "attempt", delayMs: 2_000 });
    expect(afterAttempt(failed, facts({ attempts: 3 }))).toEqual({
      kind: "fail",
      error: { code: "backend_error", message: "the stream was cut" },
    });
  });

  it("charges an interruption for a lost or busy engine, and makes the tenth poison", () => {
    expect(afterAttempt(lost, facts())).toMatchObject({ kind: "requeue", charge: "interruption" });
    expect(afterAttempt({ kind: "busy", retryAfterMs: 7_000, detail: "429" }, facts())).toMatchObject({
      charge: "interruption",
      delayMs: 7_000,
    });
    expect(afterAttempt(lost, facts({ interruptions: 9 }))).toMatchObject({ kind: "fail", error: { code: "poison" } });
  });

  it("never sends a second engine's bytes after a streaming caller has had a byte", () => {
    expect(afterAttempt(failed, facts({ delivered: true }))).toMatchObject({ kind: "fail" });
    expect(afterAttempt(lost, facts({ delivered: true }))).toMatchObject({ error: { code: "backend_lost" } });
  });

  it("gives a job back uncharged when the router stops, and as an interruption when a drain is overdue", () => {
    const aborted = { kind: "aborted" } as const;

    expect(afterAttempt(aborted, facts({ interruption: "shutdown", interruptions: 9 }))).toMatchObject({
      charge: "none",
      delayMs: 0,
    });
    expect(afterAttempt(aborted, facts({ interruption: "drain" }))).toMatchObject({
      charge: "interruption",
      delayMs: 0,
    });
  });

  it("passes a refusal on and never repeats it", () => {
    expect(afterAttempt({ kind: "refused" }, facts())).toEqual({ kind: "refuse" });
  });
});
