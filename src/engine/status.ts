// The engine's state for operators, and whether it is fit to serve. O(models).

import { BANDS, type Band } from "../domain/band.ts";
import type { DeviceStatus, EngineStatus, ModelStatus, Readiness } from "./control.ts";
import type { DeviceUnit } from "./device.ts";
import type { Loop } from "./loop.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry } from "./state.ts";

export interface StatusParts {
  readonly world: EngineWorld;
  readonly devices: readonly DeviceUnit[];
  readonly loop: Loop;
  readonly draining: boolean;
}

export function statusOf({ world, devices, loop, draining }: StatusParts): EngineStatus {
  const models = [...world.models.values()].map((entry) => modelStatus(entry, devices, world));
  const running = models.reduce((sum, each) => sum + each.running, 0);
  return {
    atMs: world.clock.nowMs(),
    policy: world.settings.policy.name,
    paused: loop.paused,
    draining,
    queued: Math.max(0, world.live.size - running),
    running,
    models,
    devices: devices.map((device) => deviceStatus(device, loop)),
  };
}

function deviceStatus(device: DeviceUnit, loop: Loop): DeviceStatus {
  return {
    device: device.spec.id,
    phase: device.phase,
    models: device.resident === null ? [] : [device.resident.instance.model],
    sinceMs: device.phaseSinceMs,
    paused: device.paused,
    decision: loop.decisionOf(device),
  };
}

function modelStatus(entry: ModelEntry, devices: readonly DeviceUnit[], world: EngineWorld): ModelStatus {
  const nowMs = world.clock.nowMs();
  const { spec, queue, breaker } = entry;
  const home = devices.find(({ resident }) => resident?.instance.model === spec.name);
  const coming = devices.find(({ move }) => move?.load === spec.name);
  const queued = {} as Record<Band, number>;
  const oldestWaitMsByBand = {} as Record<Band, number>;
  for (const band of BANDS) {
    const view = queue.band(band);
    queued[band] = view.depth;
    oldestWaitMsByBand[band] = view.oldest === null ? 0 : nowMs - view.oldest.acceptedAtMs;
  }
  return {
    spec,
    state: stateOf(entry, home, coming),
    device: (home ?? coming)?.spec.id ?? null,
    sinceMs: home?.resident?.sinceMs ?? coming?.move?.sinceMs ?? entry.remote?.sinceMs ?? null,
    pinned: entry.pinned,
    paused: entry.paused,
    queued,
    oldestWaitMs: Math.max(...Object.values(oldestWaitMsByBand)),
    oldestWaitMsByBand,
    running: (home?.resident ?? entry.remote)?.running.size ?? 0,
    loadMs: expectedLoadMs(entry),
    loadFailures: breaker.failuresInRow,
    retryAtMs: breaker.retryAtMs > nowMs || breaker.broken ? breaker.retryAtMs : null,
    lastError: breaker.lastError,
    wait: entry.wait,
  };
}

function stateOf(
  entry: ModelEntry,
  home: DeviceUnit | undefined,
  coming: DeviceUnit | undefined,
): ModelStatus["state"] {
  if (entry.remote !== null) return "remote";
  if (home?.move?.phase === "draining") return "draining";
  if (home?.move?.phase === "unloading") return "unloading";
  if (home !== undefined) return "resident";
  if (coming !== undefined) return "loading";
  if (entry.breaker.broken) return "broken";
  return entry.backend.nextTier?.(entry.spec.name) === "wake" ? "asleep" : "absent";
}

/** How long the loop may sit on waiting work without a pass. */
const STUCK_MS = 60_000;

export function readinessOf(parts: StatusParts, recovered: boolean, fault: string | null): Readiness {
  const problems: string[] = [];
  if (fault !== null) problems.push(`The engine has stopped: ${fault}`);
  if (!recovered) problems.push("Recovery after the last stop is not finished.");
  if (parts.draining) problems.push("The router is draining and takes no new work.");
  const sinceMs = parts.world.clock.nowMs() - parts.loop.lastPassAtMs;
  const looksAt = parts.devices.some(({ move }) => move === null) && parts.world.live.size > 0;
  const lateMs = parts.loop.overdueMs();
  if (looksAt && sinceMs > STUCK_MS && lateMs > STUCK_MS) {
    problems.push(`The scheduler is ${Math.round(lateMs / 1000)} s late for its next look while work waits.`);
  }
  return { ready: problems.length === 0, problems };
}
