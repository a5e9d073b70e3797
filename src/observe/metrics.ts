// Prometheus. Counters and histograms follow events; gauges are read when somebody scrapes.

import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { Registry } from "prom-client";
import { BANDS, type Band } from "../domain/band.ts";
import { isBatchFinal } from "../domain/batch.ts";
import type { Clock } from "../domain/clock.ts";
import type { Emit, LoadOutcome, RouterEvent } from "../domain/event.ts";
import { DevicePhases } from "./device-phases.ts";
import { type LiveFacts, readLive } from "./live-metrics.ts";
import { createMetricSet, type MetricSet } from "./metric-set.ts";

/** The part of the engine's status that gauges show. */
export interface QueueFacts {
  readonly models: readonly ModelFacts[];
  readonly devices: readonly {
    readonly device: string;
    readonly memoryGiB: number | null;
    readonly claimedGiB: number | null;
  }[];
  readonly ceilingMs: number | null;
  /** Of operators, now. */
  readonly pauses: readonly { readonly scope: string; readonly subject: string | null }[];
}

export interface ModelFacts {
  readonly spec: { readonly name: string; readonly devices: readonly string[] };
  readonly state: string;
  /** Where it is loaded. */
  readonly devices: readonly string[];
  readonly queued: Readonly<Record<Band, number>>;
  readonly oldestWaitMsByBand: Readonly<Record<Band, number>>;
  readonly running: number;
  /** By cause, in job-ms, since the start. */
  readonly waitedMs: ReadonlyMap<string, number>;
}

export interface StoreFacts {
  readonly walBytes: number;
  readonly storedBytes: number;
}

export interface MetricDeps {
  readonly clock: Clock;
  readonly version?: string;
  readonly status: () => QueueFacts;
  readonly usage: () => Promise<StoreFacts>;
  readonly storedLimitBytes?: number;
  /** Of the store's disk; null: it cannot be asked. */
  readonly freeBytes?: () => Promise<number | null>;
  /** Of webhooks, as their events name them. */
  readonly endpoints?: readonly string[];
  /** Lines of batches that are not queued yet, by model. */
  readonly batchLines?: () => ReadonlyMap<string, number>;
}

/** What is read of an HTTP event; others are ignored. */
export type HttpFact =
  | { readonly type: "http.request"; readonly route: string | null; readonly status: number; readonly tookMs: number }
  | { readonly type: "http.denied"; readonly reason: string }
  | { readonly type: string };

export interface Metrics {
  readonly listen: Emit;
  readonly http: (fact: HttpFact) => void;
  /** Spans of traces. */
  spans(outcome: string, count: number): void;
  /** One group commit of the store. */
  onCommit(commit: { readonly tookMs: number; readonly jobs: number }): void;
  text(live?: LiveFacts): Promise<string>;
  readonly contentType: string;
  /** Stops watching the event loop. */
  close(): void;
}

const LOOP_RESOLUTION_MS = 10;
const NANO = 1e9;
/** Errors are shares of what came; of less than this they would be shares of nothing. */
const LEAST_MS = 1_000;
const GIB = 2 ** 30;

export function createMetrics(deps: MetricDeps): Metrics {
  const registry = new Registry();
  const set = createMetricSet(registry);
  const phases = new DevicePhases((device, state, tookMs) => set.deviceSeconds.inc({ device, state }, tookMs / 1000));
  const breakers = new Map<string, BreakerState>();
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  for (const endpoint of deps.endpoints ?? []) {
    for (const outcome of DELIVERIES) set.deliveries.inc({ endpoint, outcome }, 0);
  }
  for (const reason of REFUSALS) set.refusals.inc({ reason }, 0);
  set.build.set({ version: deps.version ?? "unknown" }, 1);
  if (deps.storedLimitBytes === undefined) set.storedLimit.remove();
  else set.storedLimit.set(deps.storedLimitBytes);

  return {
    spans: (outcome, count) => set.spans.inc({ outcome }, count),
    http: (fact) => countHttp(set, fact),
    listen: (event) => {
      if (event.type === "device.phase") phases.enter(event.device, event.phase, event.atMs);
      else if (event.type === "breaker") breakers.set(event.model, event.state);
      else count(set, event);
    },
    onCommit: ({ tookMs, jobs }) => {
      set.commitSeconds.observe(tookMs / 1000);
      set.commitJobs.observe(jobs);
    },
    text: async (live) => {
      phases.accountUntil(deps.clock.nowMs());
      const status = deps.status();
      readModels(set, status, breakers);
      readDevices(set, status);
      readPauses(set, status);
      readBatches(set, deps);
      readLoop(set, loop);
      readLive(set, live);
      await readUsage(set, deps);
      return registry.metrics();
    },
    contentType: registry.contentType,
    close: () => loop.disable(),
  };
}

/** The words of the wire, which dashboards and receipts share. */
const OUTCOME = { succeeded: "completed", failed: "failed", cancelled: "cancelled", expired: "expired" } as const;
/** Counted from 0 on, so that the first of them is an increase and not the beginning of a series. */
const OUTCOMES = Object.values(OUTCOME);
const LOAD_OUTCOMES = ["ready", "failed", "timeout", "abandoned"] as const satisfies readonly LoadOutcome[];
const CHARGES = ["attempt", "interruption", "none"] as const;
const DELIVERIES = ["delivered", "failed", "gone", "given_up", "unknown"] as const;
const REFUSALS = ["missing", "unknown"] as const;
type BreakerState = Extract<RouterEvent, { readonly type: "breaker" }>["state"];
const BREAKER: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };

/** Routes are patterns, never paths; one that matches nothing is `none`. */
function countHttp(set: MetricSet, fact: HttpFact): void {
  if (fact.type === "http.denied" && "reason" in fact) set.refusals.inc({ reason: fact.reason });
  if (fact.type !== "http.request" || !("route" in fact)) return;
  set.requests.observe({ route: fact.route ?? "none", code: `${Math.floor(fact.status / 100)}xx` }, fact.tookMs / 1000);
}

function count(set: MetricSet, event: RouterEvent): void {
  switch (event.type) {
    case "job.dispatched": {
      const { model, band, attempt, dispatch } = event;
      set.dispatched.inc({ model, band });
      if (dispatch.reorder !== null) set.reorders.inc({ model, reason: dispatch.reorder });
      if (attempt === 1) set.queueWait.observe({ model, band }, dispatch.queueWaitMs / 1000);
      return;
    }
    case "job.requeued":
      set.requeues.inc({ model: event.model, charge: event.charge });
      return;
    case "job.finished": {
      const outcome = OUTCOME[event.status];
      const { model, band } = event;
      set.jobs.inc({ model, band, outcome });
      if (event.runMs > 0) set.runSeconds.observe({ model, outcome }, event.runMs / 1000);
      if (event.reason === "lease_expired") set.leasesLapsed.inc({ model });
      return;
    }
    case "job.estimated": {
      const { band, of, estimatedMs, actualMs, hit } = event;
      set.estimateError.observe({ band, of }, Math.abs(actualMs - estimatedMs) / Math.max(LEAST_MS, actualMs));
      if (hit !== null) set.estimateHits.inc({ band, of, hit: String(hit) });
      return;
    }
    case "webhook.attempted":
      set.deliveries.inc({ endpoint: event.endpoint, outcome: event.outcome });
      return;
    case "batch.changed":
      if (isBatchFinal(event.status)) set.batches.inc({ outcome: event.status });
      return;
    case "decision": {
      const { kind, load, device, reason } = event.decision;
      if (kind === "swap" && load !== null) set.swaps.inc({ model: load, device, reason });
      return;
    }
    case "shadow.disagreed":
      set.shadows.inc({ device: event.device, done: event.done, wished: event.wished });
      return;
    case "preload":
    case "prediction": {
      const { model, source, outcome } = event;
      (event.type === "preload" ? set.preloads : set.predictions).inc({ model, source, outcome });
      return;
    }
    case "load.finished": {
      const { model, outcome, tookMs } = event;
      set.loads.inc({ model, outcome });
      set.loadSeconds.observe({ model, outcome }, tookMs / 1000);
      return;
    }
    default:
      return;
  }
}

/** Gauges of a model that was removed from the configuration vanish. */
function readModels(set: MetricSet, facts: QueueFacts, breakers: ReadonlyMap<string, BreakerState>): void {
  set.queueDepth.reset();
  set.oldestWait.reset();
  set.running.reset();
  set.breaker.reset();
  set.waitedByCause.reset();
  set.loaded.reset();
  for (const each of facts.models) {
    const { spec, queued, oldestWaitMsByBand, running } = each;
    const model = spec.name;
    for (const [cause, jobMs] of each.waitedMs) set.waitedByCause.inc({ model, cause }, jobMs / 1000);
    readLoaded(set, each);
    for (const band of BANDS) for (const outcome of OUTCOMES) set.jobs.inc({ model, band, outcome }, 0);
    for (const outcome of LOAD_OUTCOMES) set.loads.inc({ model, outcome }, 0);
    for (const charge of CHARGES) set.requeues.inc({ model, charge }, 0);
    for (const band of BANDS) {
      set.queueDepth.set({ model, band }, queued[band]);
      set.oldestWait.set({ model, band }, oldestWaitMsByBand[band] / 1000);
    }
    set.running.set({ model }, running);
    set.breaker.set({ model }, BREAKER[breakers.get(model) ?? "closed"]);
  }
}

/** A model that is being loaded or taken out is not loaded. */
function readLoaded(set: MetricSet, { spec, state, devices }: ModelFacts): void {
  const model = spec.name;
  if (state === "remote") set.loaded.set({ device: "remote", model }, 1);
  for (const device of spec.devices) {
    const there = devices.includes(device) && state === "resident";
    set.loaded.set({ device, model }, there ? 1 : 0);
  }
}

function readPauses(set: MetricSet, { models, devices, pauses, ceilingMs }: QueueFacts): void {
  set.paused.reset();
  set.paused.set({ scope: "router", subject: "" }, 0);
  for (const { device } of devices) set.paused.set({ scope: "device", subject: device }, 0);
  for (const { spec } of models) set.paused.set({ scope: "model", subject: spec.name }, 0);
  const known = new Set(["", ...devices.map(({ device }) => device), ...models.map(({ spec }) => spec.name)]);
  for (const { scope, subject } of pauses) {
    // A model that was taken out of the configuration cannot be let go on, so nobody is reminded of it.
    if (known.has(subject ?? "")) set.paused.set({ scope, subject: subject ?? "" }, 1);
  }
  set.ceiling.reset();
  // Without one there is no line: an alert on it then cannot fire.
  if (ceilingMs === null) set.ceiling.remove();
  else set.ceiling.set(ceilingMs / 1000);
}

/** A line may name anything: whatever is not configured has one name. */
function readBatches(set: MetricSet, { status, batchLines }: MetricDeps): void {
  set.batchLines.reset();
  const names = new Set<string>(status().models.map(({ spec }) => spec.name));
  for (const [model, lines] of batchLines?.() ?? []) {
    set.batchLines.inc({ model: names.has(model) ? model : "unknown" }, lines);
  }
}

/** Only of devices whose memory is known. */
function readDevices(set: MetricSet, { devices }: QueueFacts): void {
  for (const { device, memoryGiB, claimedGiB } of devices) {
    if (memoryGiB === null || claimedGiB === null) continue;
    set.deviceMemory.set({ device }, memoryGiB * GIB);
    set.deviceClaimed.set({ device }, claimedGiB * GIB);
  }
}

function readLoop(set: MetricSet, loop: IntervalHistogram): void {
  set.eventLoopDelay.set({ quantile: "0.5" }, loop.percentile(50) / NANO);
  set.eventLoopDelay.set({ quantile: "0.99" }, loop.percentile(99) / NANO);
  set.eventLoopDelay.set({ quantile: "1" }, loop.max / NANO);
  loop.reset();
}

/** A store that does not answer must not hide the other metrics: the last known size stays. */
async function readUsage(set: MetricSet, deps: MetricDeps): Promise<void> {
  const [usage, freeBytes] = await Promise.all([
    deps.usage().catch(() => null),
    deps.freeBytes?.().catch(() => null) ?? null,
  ]);
  if (freeBytes === null) set.freeBytes.remove();
  else set.freeBytes.set(freeBytes);
  if (usage === null) return;
  set.walBytes.set(usage.walBytes);
  set.storedBytes.set(usage.storedBytes);
}
