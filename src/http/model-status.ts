// A model's state on the wire, with what it took to load, how long its jobs waited, and when the next of them starts.

import type { ForecastWire } from "../client/wire.ts";
import type { LoadsWire, ModelStatusWire, StartsWire } from "../client/wire-status.ts";
import type { ForecastStatus, ModelStatus } from "../engine/control.ts";
import type { LoadHistory, ModelOverview, Overview } from "../engine/overview.ts";
import { errorLine } from "../explain/causes.ts";
import type { HttpWorld } from "./deps.ts";
import { tenths, wallSeconds } from "./models.ts";
import { pauseWire } from "./pause-wire.ts";
import { seconds } from "./receipt.ts";

export function modelStatusWire(
  world: HttpWorld,
  model: ModelStatus,
  overview: Overview = world.engine.overview(),
): ModelStatusWire {
  const { spec, wait } = model;
  const more = overview.models.get(spec.name);
  return {
    id: spec.name,
    label: spec.label,
    aliases: spec.aliases,
    state: model.state,
    device: model.device,
    devices: model.devices,
    homes: spec.devices,
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
    driver: world.driverOf?.(spec.name) ?? "unknown",
    starts: startsWire(world, more),
    loads: loadsWire(world, spec.loadMs, more?.loads),
    wait_p50_seconds: inSeconds(more?.waitP50Ms),
    wait_p95_seconds: inSeconds(more?.waitP95Ms),
  };
}

function startsWire(world: HttpWorld, more: ModelOverview | undefined): StartsWire | null {
  if (more === undefined || more.first === null) return null;
  const { lowAtMs, midAtMs, highAtMs, boundAtMs } = more.first;
  return {
    low: wallSeconds(world, lowAtMs),
    mid: wallSeconds(world, midAtMs),
    high: wallSeconds(world, highAtMs),
    bound: wallSeconds(world, boundAtMs),
    last: wallSeconds(world, more.lastAtMs),
  };
}

function loadsWire(world: HttpWorld, guessMs: number, loads: LoadHistory | undefined): LoadsWire {
  return {
    guess_seconds: seconds(guessMs),
    median_seconds: inSeconds(loads?.medianMs),
    p90_seconds: inSeconds(loads?.p90Ms),
    count: loads?.count ?? 0,
    last_seconds: (loads?.lastMs ?? []).map(seconds),
    failures: (loads?.failures ?? []).map(({ atMs, error }) => ({
      at: wallSeconds(world, atMs) ?? 0,
      error: errorLine(error),
    })),
  };
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

function inSeconds(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : seconds(ms);
}
