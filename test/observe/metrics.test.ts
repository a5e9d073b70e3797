// Metrics: the golden list of names, types and labels, and what moves each.

import { afterEach, describe, expect, it } from "vitest";
import type { RouterEvent } from "../../src/domain/event.ts";
import { createMetrics, type Metrics, type QueueFacts } from "../../src/observe/metrics.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { chat, gpu0, job, oneOfEach } from "./events.ts";

const facts: QueueFacts = {
  models: [
    {
      spec: { name: "chat" },
      queued: { interactive: 1, normal: 2, batch: 3 },
      oldestWaitMsByBand: { interactive: 500, normal: 1_500, batch: 60_000 },
      running: 4,
    },
  ],
  devices: [{ device: "gpu0", memoryGiB: 80, claimedGiB: 50 }],
};

let open: Metrics | null = null;
afterEach(() => open?.close());

function given(status: () => QueueFacts = () => facts, walBytes = async () => ({ walBytes: 4096 })) {
  const clock = new VirtualClock();
  const metrics = createMetrics({ clock, status, usage: walBytes });
  open = metrics;
  const listen = (...events: RouterEvent[]): void => events.forEach(metrics.listen);
  return { clock, metrics, listen };
}

const GOLDEN = `
sir_batch_lines_waiting gauge
sir_batches_total counter outcome
sir_breaker_state gauge model
sir_device_claimed_bytes gauge device
sir_device_memory_bytes gauge device
sir_device_seconds_total counter device,state
sir_dispatched_total counter band,model
sir_estimate_error_ratio histogram band
sir_estimate_hits_total counter band,hit
sir_event_loop_delay_seconds gauge quantile
sir_jobs_total counter band,model,outcome
sir_leases_lapsed_total counter model
sir_load_seconds histogram model,outcome
sir_loads_total counter model,outcome
sir_predictions_total counter model,outcome,source
sir_preloads_total counter model,outcome,source
sir_queue_depth gauge band,model
sir_queue_oldest_wait_seconds gauge band,model
sir_queue_wait_seconds histogram band,model
sir_reorders_total counter model,reason
sir_run_seconds histogram model,outcome
sir_running_jobs gauge model
sir_shadow_disagreements_total counter device,done,wished
sir_store_commit_jobs histogram
sir_store_commit_seconds histogram
sir_swaps_total counter device,model,reason
sir_wal_bytes gauge
sir_webhook_attempts_total counter endpoint,outcome
`.trim();

/** `name type label,label` for each metric of a scrape, sorted. */
function listOf(text: string): string {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const lines = [...types].map(([name, type]) => {
    const sample = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, "m").exec(text);
    const labels = [...(sample?.[1] ?? "").matchAll(/(\w+)="/g)].map(([, label]) => label).filter((l) => l !== "le");
    return `${name} ${type} ${labels.sort().join(",")}`.trim();
  });
  return lines.sort().join("\n");
}

describe("metrics", () => {
  it("has exactly the metrics that dashboards rely on, with their types and labels", async () => {
    const { metrics, listen, clock } = given();
    listen(...oneOfEach);
    metrics.onCommit({ tookMs: 3, jobs: 12 });
    await clock.runUntil(clock.nowMs() + 2_000);

    const text = await metrics.text();

    expect(listOf(text)).toBe(GOLDEN);
    expect(metrics.contentType).toContain("text/plain");
  });

  it("reads queue gauges when somebody scrapes, by model and band", async () => {
    const { metrics } = given();

    const text = await metrics.text();

    expect(text).toContain('sir_queue_depth{model="chat",band="batch"} 3');
    expect(text).toContain('sir_queue_oldest_wait_seconds{model="chat",band="normal"} 1.5');
    expect(text).toContain('sir_running_jobs{model="chat"} 4');
    expect(text).toContain("sir_wal_bytes 4096");
  });

  it("forgets the queue of a model that was removed from the configuration", async () => {
    let now = facts;
    const { metrics } = given(() => now);
    await metrics.text();

    now = { models: [], devices: [] };

    expect(await metrics.text()).not.toContain('sir_queue_depth{model="chat"');
  });

  it("still answers when the store does not", async () => {
    const { metrics } = given(undefined, () => Promise.reject(new Error("unavailable")));

    expect(await metrics.text()).toContain("sir_queue_depth");
  });

  it("counts every second of a device exactly once, also the phase that still lasts", async () => {
    const { metrics, listen, clock } = given();
    const startMs = clock.nowMs();
    const phase = (name: "loading" | "serving", afterMs: number): RouterEvent => ({
      type: "device.phase",
      device: gpu0,
      phase: name,
      atMs: startMs + afterMs,
    });

    listen(phase("loading", 0), phase("serving", 8_000));
    await clock.runUntil(startMs + 10_000);
    await metrics.text();
    await clock.runUntil(startMs + 12_500);
    const text = await metrics.text();

    expect(text).toContain('sir_device_seconds_total{device="gpu0",state="loading"} 8\n');
    expect(text).toContain('sir_device_seconds_total{device="gpu0",state="serving"} 4.5\n');
  });

  it("counts a lapsed lease both as lapsed and as cancelled", async () => {
    const { metrics, listen } = given();

    listen(...oneOfEach.filter((event) => event.type === "job.finished"));
    const text = await metrics.text();

    expect(text).toContain('sir_leases_lapsed_total{model="chat"} 1');
    expect(text).toContain('sir_jobs_total{model="chat",band="normal",outcome="cancelled"} 1');
    expect(text).toContain('sir_run_seconds_sum{model="chat",outcome="cancelled"} 1.25');
  });

  it("observes the queue wait of the first attempt only, but counts every dispatch", async () => {
    const { metrics, listen } = given();
    const first: RouterEvent = {
      type: "job.dispatched",
      job,
      model: chat,
      band: "normal",
      priority: 0,
      attempt: 1,
      dispatch: { decision: null, score: null, queueWaitMs: 90_000, reorder: "aging" },
    };

    listen(first, { ...first, attempt: 2 });
    const text = await metrics.text();

    expect(text).toContain('sir_dispatched_total{model="chat",band="normal"} 2');
    expect(text).toContain('sir_queue_wait_seconds_count{model="chat",band="normal"} 1');
    expect(text).toContain('sir_queue_wait_seconds_bucket{le="120",model="chat",band="normal"} 1');
    expect(text).toContain('sir_queue_wait_seconds_bucket{le="60",model="chat",band="normal"} 0');
    expect(text).toContain('sir_reorders_total{model="chat",reason="aging"} 2');
  });

  it("shows a breaker's state as 0, 1 and 2, also before anything has happened", async () => {
    const { metrics, listen } = given();
    const state = async () => /sir_breaker_state\{model="chat"\} (\d)/.exec(await metrics.text())?.[1];

    const seen = [await state()];
    for (const next of ["open", "half_open", "closed"] as const) {
      listen({ type: "breaker", model: chat, state: next, retryAtMs: null });
      seen.push(await state());
    }

    expect(seen).toEqual(["0", "2", "1", "0"]);
  });
});
