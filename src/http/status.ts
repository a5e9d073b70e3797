// The router's state for people and scripts, and whether it lives, is ready, and what it counts.

import type { PreloadRecordWire } from "../client/wire.ts";
import type { DeviceStatusWire, PauseWire, ReadyWire, StatusWire, TotalsWire } from "../client/wire-status.ts";
import { SirError } from "../domain/errors.ts";
import type { EngineStatus, PreloadingStatus, PreloadRecord } from "../engine/control.ts";
import type { Overview } from "../engine/overview.ts";
import type { Usage } from "../store/store.ts";
import { mayObserve } from "./caller.ts";
import { withoutOthers } from "./decision-wire.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { deviceStatusWires } from "./device-status.ts";
import { modelStatusWire } from "./model-status.ts";
import { wallSeconds } from "./models.ts";
import { pauseWire, SOMEBODY } from "./pause-wire.ts";
import { seconds } from "./receipt.ts";
import { TIME_ZONE } from "./time-zone.ts";

const NO_STORE = { "cache-control": "no-store" };

/** `GET /v1/status` */
export async function readStatus(c: Call, world: HttpWorld): Promise<Response> {
  const usage = await world.store.usage();
  const status = statusWire(world, usage);
  return c.json(mayObserve(c) ? status : statusWithoutOthers(status), 200, NO_STORE);
}

/** For a caller who may not observe: no ids of jobs and hints, and no names of others. */
export function statusWithoutOthers(status: StatusWire): StatusWire {
  const models = status.models.map((model) => ({ ...model, pause: unnamed(model.pause) }));
  const devices = status.devices.map((device) => ({
    ...device,
    pause: unnamed(device.pause),
    summary: unnamedSummary(device),
    decision: device.decision === null ? null : withoutOthers(device.decision),
  }));
  return { ...status, pause: unnamed(status.pause), models, devices };
}

function unnamed(pause: PauseWire | null): PauseWire | null {
  return pause === null ? null : { ...pause, who: SOMEBODY };
}

/** The sentence of a paused device names who did it, right before the instant. */
function unnamedSummary({ pause, summary }: DeviceStatusWire): DeviceStatusWire["summary"] {
  if (pause === null || !summary.text.includes(` ${pause.who} since `)) return summary;
  const text = summary.text.replace(` ${pause.who} since `, ` ${SOMEBODY} since `);
  return { ...summary, text, what_length: summary.what_length + text.length - summary.text.length };
}

export function statusWire(world: HttpWorld, { jobs, storedBytes, walBytes }: Usage): StatusWire {
  const status = world.engine.status();
  const overview = world.engine.overview();
  return {
    object: "status",
    seq: world.live.seq,
    boot: world.live.boot,
    started_at: wallSeconds(world, overview.startedAtMs) ?? 0,
    totals: totalsWire(status, overview),
    at: wallSeconds(world, status.atMs) ?? 0,
    time_zone: TIME_ZONE,
    version: world.version ?? "unknown",
    policy: status.policy,
    paused: status.paused,
    pause: pauseWire(world, status.pause),
    draining: status.draining || world.closing?.draining.aborted === true,
    queued: status.queued,
    running: status.running,
    models: status.models.map((model) => modelStatusWire(world, model, overview)),
    devices: deviceStatusWires(world, status, overview),
    preloading: preloadingWire(world, status.preloading),
    store: { jobs, stored_bytes: storedBytes, wal_bytes: walBytes },
  };
}

function totalsWire(status: EngineStatus, { lastHour }: Overview): TotalsWire {
  const { succeeded, failed, lapsed, estimateError } = lastHour;
  return {
    waiting: status.queued,
    running: status.running,
    done_1h: succeeded,
    failed_1h: failed,
    lapsed_1h: lapsed,
    estimate_error_1h: estimateError === null ? null : Math.round(estimateError * 1_000) / 1_000,
    longest_wait: longestWait(status),
  };
}

/** Of the model whose oldest job has waited longest; null: nothing waits. */
function longestWait({ models }: EngineStatus): TotalsWire["longest_wait"] {
  const [longest] = models.toSorted((a, b) => b.oldestWaitMs - a.oldestWaitMs);
  if (longest === undefined || longest.oldestWaitMs <= 0 || longest.wait === null) return null;
  return { model: longest.spec.name, seconds: seconds(longest.oldestWaitMs), cause: longest.wait.cause };
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
  return new Response(await world.metrics.text(world.live), {
    headers: { "content-type": world.metrics.contentType, ...NO_STORE },
  });
}
