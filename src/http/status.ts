// The router's state for people and scripts, and whether it lives, is ready, and what it counts.

import type { ForecastWire, PreloadRecordWire } from "../client/wire.ts";
import type { DeviceStatusWire, ModelStatusWire, PauseWire, ReadyWire, StatusWire } from "../client/wire-status.ts";
import { SirError } from "../domain/errors.ts";
import type { Pause } from "../domain/pause.ts";
import type { DeviceStatus, ForecastStatus, ModelStatus, PreloadingStatus, PreloadRecord } from "../engine/control.ts";
import type { Usage } from "../store/store.ts";
import { mayObserve } from "./caller.ts";
import { decisionWire, withoutOthers } from "./decision-wire.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { tenths, wallSeconds } from "./models.ts";
import { seconds } from "./receipt.ts";

const NO_STORE = { "cache-control": "no-store" };

/** `GET /v1/status` */
export async function readStatus(c: Call, world: HttpWorld): Promise<Response> {
  const usage = await world.store.usage();
  const status = statusWire(world, usage);
  return c.json(mayObserve(c) ? status : statusWithoutOthers(status), 200, NO_STORE);
}

/** For a caller who may not observe: no ids of jobs and hints. */
export function statusWithoutOthers(status: StatusWire): StatusWire {
  const devices = status.devices.map(({ decision, ...device }) => ({
    ...device,
    decision: decision === null ? null : withoutOthers(decision),
  }));
  return { ...status, devices };
}

export function statusWire(world: HttpWorld, { jobs, storedBytes, walBytes }: Usage): StatusWire {
  const status = world.engine.status();
  return {
    object: "status",
    seq: world.live.seq,
    boot: world.live.boot,
    started_at: 0,
    totals: {
      waiting: status.queued,
      running: status.running,
      done_1h: 0,
      failed_1h: 0,
      estimate_error_1h: null,
      longest_wait: null,
    },
    at: wallSeconds(world, status.atMs) ?? 0,
    version: world.version ?? "unknown",
    policy: status.policy,
    paused: status.paused,
    pause: pauseWire(world, status.pause),
    draining: status.draining || world.closing?.draining.aborted === true,
    queued: status.queued,
    running: status.running,
    models: status.models.map((model) => modelStatusWire(world, model)),
    devices: status.devices.map((device) => deviceWire(world, device)),
    preloading: preloadingWire(world, status.preloading),
    store: { jobs, stored_bytes: storedBytes, wal_bytes: walBytes },
  };
}

export function modelStatusWire(world: HttpWorld, model: ModelStatus): ModelStatusWire {
  const { spec, wait } = model;
  return {
    id: spec.name,
    label: spec.label,
    aliases: spec.aliases,
    state: model.state,
    device: model.device,
    devices: model.devices,
    memory_gib: model.memoryGiB,
    measured_gib: tenths(model.measuredGiB),
    since: wallSeconds(world, model.sinceMs),
    pinned: model.pinned,
    paused: model.paused,
    pause: pauseWire(world, model.pause),
    queued: model.queued,
    oldest_wait_seconds: seconds(model.oldestWaitMs),
    running: model.running,
    concurrency: spec.concurrency,
    load_seconds: seconds(model.loadMs),
    load_failures: model.loadFailures,
    retry_at: wallSeconds(world, model.retryAtMs),
    last_error: model.lastError,
    waiting:
      wait === null
        ? null
        : {
            cause: wait.cause,
            rule: wait.rule,
            by: wait.by,
            device: wait.device,
            decision: wait.decision,
            since: wallSeconds(world, wait.fromMs) ?? 0,
          },
    forecast: model.forecast === null ? null : forecastWire(world, model.forecast),
    driver: "",
    starts: null,
    loads: {
      guess_seconds: seconds(model.loadMs),
      median_seconds: null,
      p90_seconds: null,
      count: 0,
      last_seconds: [],
      failures: [],
    },
    wait_p50_seconds: null,
    wait_p95_seconds: null,
  };
}

function deviceWire(world: HttpWorld, device: DeviceStatus): DeviceStatusWire {
  return {
    id: device.device,
    phase: device.phase,
    models: device.models,
    memory_gib: device.memoryGiB,
    claimed_gib: tenths(device.claimedGiB),
    since: wallSeconds(world, device.sinceMs) ?? 0,
    paused: device.paused,
    pause: pauseWire(world, device.pause),
    decision: device.decision === null ? null : decisionWire(device.decision),
    preload_left_seconds: device.preloadLeftMs === null ? null : seconds(device.preloadLeftMs),
    summary: {
      text: device.decision?.sentence ?? "",
      what_length: 0,
      code: device.phase,
      decision: device.decision?.id ?? null,
    },
    next: null,
    swap_share_1h: 0,
    swaps_1h: 0,
  };
}

function pauseWire(world: HttpWorld, pause: Pause | null): PauseWire | null {
  if (pause === null) return null;
  const { scope, subject, who, note, fromMs } = pause;
  return { scope, subject, who, note, since: wallSeconds(world, fromMs) ?? 0 };
}

function forecastWire(world: HttpWorld, { burst, expected, cron, daily }: ForecastStatus): ForecastWire {
  const nowMs = world.clock.nowMs();
  const shown = expected.map(({ source, dueAtMs, probability, actsFromMs }) => ({
    source,
    due_at: wallSeconds(world, dueAtMs) ?? 0,
    probability,
    acts: actsFromMs <= nowMs,
  }));
  return { burst, expected: shown, cron, daily };
}

function preloadingWire(world: HttpWorld, { mode, hint, learned }: PreloadingStatus): StatusWire["preloading"] {
  const record = ({ hits, misses, pausedUntilMs }: PreloadRecord): PreloadRecordWire => ({
    hits,
    misses,
    paused_until: wallSeconds(world, pausedUntilMs),
  });
  return { mode, hint: record(hint), learned: record(learned) };
}

/** `GET /healthz`: the process answers. */
export function healthz(c: Call): Response {
  return c.json({ status: "ok" }, 200, NO_STORE);
}

/** `GET /readyz`: the store commits and the loop turns; 503 with the problems in words when not. */
export async function readyz(c: Call, world: HttpWorld): Promise<Response> {
  const problems = [...world.engine.readiness().problems];
  if (!world.engine.readiness().ready && problems.length === 0) problems.push("the engine is not ready");
  if (world.closing?.draining.aborted === true) problems.push("the router is going down");
  try {
    await world.store.ping();
  } catch (error) {
    problems.push(`the store cannot commit: ${error instanceof Error ? error.message : "unknown"}`);
  }
  const body: ReadyWire = { status: problems.length === 0 ? "ready" : "not_ready", problems };
  if (problems.length === 0) return c.json(body, 200, NO_STORE);
  return c.json(body, 503, { ...NO_STORE, "retry-after": "2" });
}

/** `GET /metrics` in Prometheus' text format. */
export async function readMetrics(world: HttpWorld): Promise<Response> {
  if (world.metrics === undefined) throw new SirError("route_not_found", "This router keeps no metrics.");
  return new Response(await world.metrics.text(), {
    headers: { "content-type": world.metrics.contentType, ...NO_STORE },
  });
}
