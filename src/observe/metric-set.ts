// Every metric of the router in one place: name, help, labels, buckets. Base units. The values of labels are bounded:
// configured models and devices, bands, and closed unions of the domain.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Waits and runs last from milliseconds to hours. */
const MINUTES_LONG = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 2400, 3600, 7200, 14_400];
/** Loads last from a wake-up of a second to a first download. */
const LOADS = [0.5, 1, 2, 5, 10, 20, 30, 60, 90, 120, 180, 300, 450, 600, 900, 1800, 3600, 7200];
const REQUESTS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];
const COMMITS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** Makers of metrics, bound to a registry. */
function makers(registry: Registry) {
  const registers = [registry];
  return {
    gauge: <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
      new Gauge({ name, help, labelNames, registers }),
    counter: <L extends string>(name: string, help: string, labelNames: L[]): Counter<L> =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

export function createMetricSet(registry: Registry) {
  const { gauge, counter, histogram } = makers(registry);
  return {
    queueDepth: gauge("sir_queue_depth", "Queued jobs.", ["model", "band"]),
    oldestWait: gauge("sir_queue_oldest_wait_seconds", "Age of the oldest queued job, 0 when there is none.", [
      "model",
      "band",
    ]),
    ...createBatchMetrics([registry]),
    ...createDeviceMetrics(registry),
    ...createRouterMetrics(registry),
    waitedByCause: counter(
      "sir_job_wait_cause_seconds_total",
      "Seconds that queued jobs waited, summed over jobs, by what their model's queue waited for.",
      ["model", "cause"],
    ),
    requeues: counter("sir_requeues_total", "Attempts that ended without an outcome, by what they were charged to.", [
      "model",
      "charge",
    ]),
    running: gauge("sir_running_jobs", "Attempts that run now.", ["model"]),
    dispatched: counter("sir_dispatched_total", "Attempts started.", ["model", "band"]),
    reorders: counter("sir_reorders_total", "Jobs started before one that came earlier, by the term that did it.", [
      "model",
      "reason",
    ]),
    queueWait: histogram(
      "sir_queue_wait_seconds",
      "From acceptance to the first start.",
      ["model", "band"],
      MINUTES_LONG,
    ),
    runSeconds: histogram("sir_run_seconds", "Length of the last attempt.", ["model", "outcome"], MINUTES_LONG),
    estimateError: histogram(
      "sir_estimate_error_ratio",
      "How far a job's first estimate was off, as a share of what came (of a second at least): |actual - estimated| / actual.",
      ["band", "of"],
      [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5],
    ),
    estimateHits: counter("sir_estimate_hits_total", "First estimates with a range, by whether the truth lay inside.", [
      "band",
      "of",
      "hit",
    ]),
    leasesLapsed: counter("sir_leases_lapsed_total", "Jobs cancelled because nobody polled.", ["model"]),
    jobs: counter("sir_jobs_total", "Jobs by their final state.", ["model", "band", "outcome"]),
    eventLoopDelay: gauge("sir_event_loop_delay_seconds", "Delay of the event loop since the last scrape.", [
      "quantile",
    ]),
    commitSeconds: histogram("sir_store_commit_seconds", "How long one group commit took.", [], COMMITS),
    commitJobs: histogram("sir_store_commit_jobs", "Writes that shared one commit.", [], BATCHES),
    walBytes: gauge("sir_wal_bytes", "Size of the write-ahead log.", []),
  };
}

/** What models and devices do, and what was decided of them. */
function createDeviceMetrics(registry: Registry) {
  const { gauge, counter, histogram } = makers(registry);
  return {
    ceiling: gauge("sir_starvation_ceiling_seconds", "How long a job may wait at most before its model is loaded.", []),
    swaps: counter("sir_swaps_total", "Decisions that evicted one model for another, by the model brought in.", [
      "model",
      "device",
      "reason",
    ]),
    loads: counter("sir_loads_total", "Loads that ended, by how.", ["model", "outcome"]),
    loaded: gauge("sir_model_loaded", "1 where a model is loaded, 0 where it might be; remote: always on elsewhere.", [
      "device",
      "model",
    ]),
    preloads: counter("sir_preloads_total", "Loads ahead of need, by whether a job came in time.", [
      "model",
      "source",
      "outcome",
    ]),
    predictions: counter("sir_predictions_total", "Learned expectations of a model's work, by whether it came.", [
      "model",
      "source",
      "outcome",
    ]),
    shadows: counter("sir_shadow_disagreements_total", "A policy in shadow would have moved something else.", [
      "device",
      "done",
      "wished",
    ]),
    loadSeconds: histogram("sir_load_seconds", "How long loads took.", ["model", "outcome"], LOADS),
    deviceSeconds: counter("sir_device_seconds_total", "What a device spent its time on.", ["device", "state"]),
    deviceMemory: gauge("sir_device_memory_bytes", "Memory of a device that models may claim.", ["device"]),
    deviceClaimed: gauge("sir_device_claimed_bytes", "Memory claimed by the models that are loaded or loading.", [
      "device",
    ]),
    paused: gauge("sir_paused", "1 while an operator has paused it.", ["scope", "subject"]),
    breaker: gauge("sir_breaker_state", "0 closed, 1 half open (probing), 2 open (quarantined).", ["model"]),
  };
}

/** The process, its callers and its disk. */
function createRouterMetrics(registry: Registry) {
  const { gauge, counter, histogram } = makers(registry);
  return {
    build: gauge("sir_build_info", "1, with the version that runs.", ["version"]),
    requests: histogram(
      "sir_http_request_seconds",
      "Until an answer's headers; a held request is as long as its hold.",
      ["route", "code"],
      REQUESTS,
    ),
    refusals: counter("sir_key_refusals_total", "Requests without a valid key.", ["reason"]),
    spans: counter("sir_spans_total", "Spans of traces; dropped ones were never sent.", ["outcome"]),
    readers: gauge("sir_stream_clients", "Readers of /v1/stream.", []),
    untaken: gauge("sir_stream_untaken_bytes", "Sent to readers of /v1/stream and not taken by them yet.", []),
    withheld: counter("sir_stream_withheld_total", "Frames that readers who lagged were not sent.", []),
    storedBytes: gauge("sir_stored_bytes", "Bodies and answers that are kept.", []),
    storedLimit: gauge("sir_stored_limit_bytes", "jobs.maxStoredBytes: beyond it new work is refused.", []),
    freeBytes: gauge("sir_store_free_bytes", "Free on the disk that holds the store.", []),
  };
}

/** Batches, and the webhooks that tell of their end. */
function createBatchMetrics(registers: Registry[]) {
  return {
    batchLines: new Gauge({
      name: "sir_batch_lines_waiting",
      help: "Lines of batches that are not queued as jobs yet.",
      labelNames: ["model"],
      registers,
    }),
    batches: new Counter({
      name: "sir_batches_total",
      help: "Batches by their final status.",
      labelNames: ["outcome"],
      registers,
    }),
    deliveries: new Counter({
      name: "sir_webhook_attempts_total",
      help: "Attempts to deliver an event, by how they ended.",
      labelNames: ["endpoint", "outcome"],
      registers,
    }),
  };
}

export type MetricSet = ReturnType<typeof createMetricSet>;
