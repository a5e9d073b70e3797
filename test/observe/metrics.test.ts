// Metrics: the golden list of names, types and labels, and what moves each.

import { afterEach, describe, expect, it } from "vitest";
import type { RouterEvent } from "../../src/domain/event.ts";
import { createMetrics, type MetricDeps, type Metrics, type QueueFacts } from "../../src/observe/metrics.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { chat, gpu0, job, oneOfEach } from "./events.ts";

const facts: QueueFacts = {
  models: [
    {
      spec: { name: "chat", devices: ["gpu0", "gpu1"] },
      state: "resident",
      devices: ["gpu0"],
      waitedMs: new Map([["held", 90_500]]),
      queued: { interactive: 1, normal: 2, batch: 3 },
      oldestWaitMsByBand: { interactive: 500, normal: 1_500, batch: 60_000 },
      running: 4,
    },
  ],
  devices: [{ device: "gpu0", memoryGiB: 80, claimedGiB: 50 }],
  ceilingMs: 120_000,
  pauses: [{ scope: "device", subject: "gpu0" }],
};

const usage = { walBytes: 4096, storedBytes: 123 };

let open: Metrics | null = null;
afterEach(() => open?.close());

function given(status: () => QueueFacts = () => facts, used: MetricDeps["usage"] = async () => usage) {
  const clock = new VirtualClock();
  const metrics = createMetrics({
    ...{ clock, status, usage: used, version: "9.9.9" },
    storedLimitBytes: 1_000,
    freeBytes: async () => 5_000,
  });
  open = metrics;
  const listen = (...events: RouterEvent[]): void => events.forEach(metrics.listen);
  return { clock, metrics, listen };
}

const GOLDEN = `
sir_batch_lines_waiting gauge
sir_batches_total counter outcome
sir_breaker_state gauge model
sir_build_info gauge version
sir_device_claimed_bytes gauge device
sir_device_memory_bytes gauge device
sir_device_seconds_total counter device,state
sir_dispatched_total counter band,model
sir_estimate_error_ratio histogram band,of
sir_estimate_hits_total counter band,hit,of
sir_event_loop_delay_seconds gauge quantile
sir_http_request_seconds histogram code,route
sir_job_wait_cause_seconds_total counter cause,model
sir_jobs_total counter band,model,outcome
sir_key_refusals_total counter reason
sir_leases_lapsed_total counter model
sir_load_seconds histogram model,outcome
sir_loads_total counter model,outcome
sir_model_loaded gauge device,model
sir_paused gauge scope,subject
sir_predictions_total counter model,outcome,source
sir_preloads_total counter model,outcome,source
sir_queue_depth gauge band,model
sir_queue_oldest_wait_seconds gauge band,model
sir_queue_wait_seconds histogram band,model
sir_reorders_total counter model,reason
sir_requeues_total counter charge,model
sir_run_seconds histogram model,outcome
sir_running_jobs gauge model
sir_shadow_disagreements_total counter device,done,wished
sir_spans_total counter outcome
sir_starvation_ceiling_seconds gauge
sir_store_commit_jobs histogram
sir_store_commit_seconds histogram
sir_store_free_bytes gauge
sir_stored_bytes gauge
sir_stored_limit_bytes gauge
sir_stream_clients gauge
sir_stream_untaken_bytes gauge
sir_stream_withheld_total counter
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
    metrics.spans("sent", 3);
    metrics.http({ type: "http.request", route: "/v1/models", status: 200, tookMs: 3 });
    metrics.http({ type: "http.denied", reason: "missing" });
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

    now = { models: [], devices: [], ceilingMs: null, pauses: [] };

    expect(await metrics.text()).not.toContain('sir_queue_depth{model="chat"');
  });

  it("shows where models are loaded, what is paused, and what queues waited for", async () => {
    const { metrics } = given();

    const text = await metrics.text({ watching: 3, untakenBytes: 4_096, withheldTotal: 7 });

    expect(text).toContain('sir_model_loaded{device="gpu0",model="chat"} 1');
    expect(text).toContain('sir_model_loaded{device="gpu1",model="chat"} 0');
    expect(text).toContain('sir_paused{scope="router",subject=""} 0');
    expect(text).toContain('sir_paused{scope="device",subject="gpu0"} 1');
    expect(text).toContain('sir_job_wait_cause_seconds_total{model="chat",cause="held"} 90.5');
    expect(text).toContain("sir_starvation_ceiling_seconds 120\n");
    expect(text).toContain("sir_stream_clients 3\n");
    expect(text).toContain("sir_stream_untaken_bytes 4096\n");
    expect(text).toContain("sir_stream_withheld_total 7\n");
    expect(text).toContain("sir_store_free_bytes 5000\n");
  });

  it("counts what queues waited for once, however often it is scraped", async () => {
    const { metrics } = given();
    await metrics.text();

    expect(await metrics.text()).toContain('sir_job_wait_cause_seconds_total{model="chat",cause="held"} 90.5');
  });

  it("has no line for a ceiling, a disk or a limit that is not there, so that no alert compares with 0", async () => {
    const clock = new VirtualClock();
    const metrics = createMetrics({
      ...{ clock, usage: async () => usage, freeBytes: async () => null },
      status: () => ({ ...facts, ceilingMs: null }),
    });
    open = metrics;

    const text = await metrics.text();

    expect(text).not.toMatch(/^sir_(starvation_ceiling_seconds|store_free_bytes|stored_limit_bytes) /m);
  });

  it("counts requests by the route's pattern and the class of their status", async () => {
    const { metrics } = given();
    const request = { type: "http.request", status: 204, tookMs: 20 } as const;

    metrics.http({ ...request, route: "/v1/jobs/{id}" });
    metrics.http({ ...request, route: "/v1/jobs/{id}", status: 404 });
    metrics.http({ ...request, route: null, status: 404 });
    metrics.http({ type: "http.error" });
    const text = await metrics.text();

    expect(text).toContain('sir_http_request_seconds_count{route="/v1/jobs/{id}",code="2xx"} 1');
    expect(text).toContain('sir_http_request_seconds_count{route="/v1/jobs/{id}",code="4xx"} 1');
    expect(text).toContain('sir_http_request_seconds_count{route="none",code="4xx"} 1');
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
