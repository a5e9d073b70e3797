// The log: one line for each event, the arithmetic of decisions, and nothing that a caller wrote.

import { describe, expect, it } from "vitest";
import type { RouterEvent } from "../../src/domain/event.ts";
import { createLog } from "../../src/observe/log.ts";
import { chat, job, oneOfEach, swap } from "./events.ts";

function record(level: "silent" | "error" | "info" | "debug") {
  const lines: Record<string, unknown>[] = [];
  const { listen, logger } = createLog({ level, stream: { write: (text) => void lines.push(JSON.parse(text)) } });
  return { lines, listen, logger };
}

describe("log", () => {
  it("writes exactly one line for each kind of event at the debug level", () => {
    const { lines, listen } = record("debug");

    for (const event of oneOfEach) listen(event);

    expect(lines.map((line) => line["event"])).toEqual(oneOfEach.map((event) => event.type));
  });

  it("keeps each addend of a decision at the info level", () => {
    const { lines, listen } = record("info");

    listen({ type: "decision", decision: swap });

    expect(lines[0]).toMatchObject({
      level: "info",
      event: "decision",
      decision: swap.id,
      kind: "swap",
      reason: "challenger_wins",
      load: "code",
      evict: ["chat"],
      msg: swap.sentence,
      resident: [{ model: "chat", for_seconds: 42, idle_seconds: 0 }],
      jobs: [job],
    });
    const models = lines[0]?.["models"];
    expect(models).toContainEqual({
      model: "code",
      depth: 3,
      oldest_wait_seconds: 15,
      priority: 1,
      age_term: 15,
      depth_term: 1.5,
      switch_cost: 2,
      score: 14.5,
      eligible: true,
      why_not: null,
    });
  });

  it("levels events by what an owner must know", () => {
    const { lines, listen } = record("debug");

    for (const event of oneOfEach) listen(event);

    const levels = Object.fromEntries(lines.map((line) => [line["event"], line["level"]]));
    expect(levels).toMatchObject({
      "store.unavailable": "error",
      "load.finished": "warn",
      "instance.lost": "warn",
      breaker: "warn",
      decision: "info",
      "job.finished": "info",
      "job.accepted": "debug",
      "device.phase": "debug",
    });
  });

  it("says nothing below its level", () => {
    const { lines, listen } = record("error");

    for (const event of oneOfEach) listen(event);

    expect(new Set(lines.map((line) => line["level"]))).toEqual(new Set(["error"]));
  });

  it("logs the code of a failure and never its message, which may quote an engine that quotes the prompt", () => {
    const { lines, listen } = record("debug");
    const event: RouterEvent = {
      type: "job.finished",
      job,
      model: chat,
      band: "normal",
      status: "failed",
      reason: null,
      error: { code: "backend_error", message: "cannot parse: my secret prompt" },
      waitMs: 1,
      runMs: 1,
    };

    listen(event);

    expect(lines[0]).toMatchObject({ error_code: "backend_error", level: "warn" });
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("logs where an unexpected error happened and not its message", () => {
    const lines: Record<string, unknown>[] = [];
    const { http } = createLog({ level: "info", stream: { write: (text) => void lines.push(JSON.parse(text)) } });

    http({ type: "http.error", requestId: "req_1", error: new TypeError("cannot read my secret prompt") });

    expect(lines[0]).toMatchObject({ level: "error", request: "req_1", error: "TypeError" });
    expect(String(lines[0]?.["at"])).toContain("log.test.ts");
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("tells at the info level who acted on the router, and of everybody else's requests nothing", () => {
    const lines: Record<string, unknown>[] = [];
    const { http } = createLog({ level: "info", stream: { write: (text) => void lines.push(JSON.parse(text)) } });
    const request = { type: "http.request", requestId: "req_1", status: 200, tookMs: 3, job: null } as const;

    http({ ...request, method: "POST", route: "/admin/models/{id}/unload", caller: "ann" });
    http({ ...request, method: "GET", route: "/admin/tuning", caller: "ann" });
    http({ ...request, method: "POST", route: "/v1/chat/completions", caller: "bob" });
    http({ ...request, method: "POST", route: null, caller: null });

    expect(lines).toMatchObject([{ event: "http.request", route: "/admin/models/{id}/unload", caller: "ann" }]);
    expect(lines).toHaveLength(1);
  });

  it("cuts an engine's long last words", () => {
    const { lines, listen } = record("debug");

    listen({ type: "instance.lost", model: chat, device: null, detail: "x".repeat(10_000) });

    expect(String(lines[0]?.["detail"]).length).toBeLessThan(400);
  });
});
