// The engine's state for operators, and whether it is fit to serve. O(models).

import { BANDS, type Band } from "../domain/band.ts";
import { budgetAt } from "../scheduler/forecast.ts";
import { claimedGiB, claimGiB } from "./claims.ts";
import type { DeviceStatus, EngineStatus, ModelStatus, Readiness } from "./control.ts";
import { allResidents, type DeviceUnit } from "./device.ts";
import type { Loop } from "./loop.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry, type Residency } from "./state.ts";

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
    pause: world.pauses.router,
    pauses: world.pauses.all,
    ceilingMs: world.settings.policy.guards.maxWaitMs,
    draining,
    queued: Math.max(0, world.live.size - running),
    running,
    models,
    devices: devices.map((device) => deviceStatus(device, loop, world)),
    preloading: world.foresight.status(),
  };
}

/** What is loaded and what is on its way in; null where the device's memory is not known. */
function claimedOf(device: DeviceUnit, world: EngineWorld): number | null {
  const { memoryGiB } = device.spec;
  if (memoryGiB === null) return null;
  const entry = device.move?.load == null ? undefined : world.models.get(device.move.load);
  const coming =
    device.move?.phase !== "loading" || entry === undefined ? 0 : (claimGiB(entry, device.spec) ?? memoryGiB);
  return Math.min(memoryGiB, claimedGiB(device, world) + coming);
}

function deviceStatus(device: DeviceUnit, loop: Loop, world: EngineWorld): DeviceStatus {
  const budget = world.foresight.budgetOf(device.spec.id);
  return {
    device: device.spec.id,
    phase: device.phase,
    models: device.residents.map(({ instance }) => instance.model),
    memoryGiB: device.spec.memoryGiB,
    claimedGiB: claimedOf(device, world),
    sinceMs: device.phaseSinceMs,
    paused: loop.isHeld(device),
    pause: world.pauses.router ?? world.pauses.device(device.spec.id),
    decision: loop.book.inForce(device),
    looks: loop.book.looksOf(device),
    preloadLeftMs: budget === null ? null : budgetAt(budget, world.clock.nowMs()),
  };
}

function modelStatus(entry: ModelEntry, devices: readonly DeviceUnit[], world: EngineWorld): ModelStatus {
  const nowMs = world.clock.nowMs();
  const { spec, queue, breaker } = entry;
  const homes = allResidents(devices).filter(({ instance }) => instance.model === spec.name);
  const home = homes.find(({ leaving }) => !leaving) ?? homes[0];
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
    state: stateOf(entry, home, coming, devices),
    device: home?.instance.device ?? coming?.spec.id ?? null,
    devices: [...new Set(homes.flatMap((each) => each.devices))],
    memoryGiB: spec.memoryGiB,
    measuredGiB: measuredOf(entry),
    sinceMs: home?.sinceMs ?? coming?.move?.sinceMs ?? entry.remote?.sinceMs ?? null,
    pinned: entry.pinned,
    paused: entry.paused,
    pause: world.pauses.over(spec),
    queued,
    oldestWaitMs: Math.max(...Object.values(oldestWaitMsByBand)),
    oldestWaitMsByBand,
    running: [...homes, ...(entry.remote === null ? [] : [entry.remote])].reduce(
      (sum, each) => sum + each.running.size,
      0,
    ),
    loadMs: expectedLoadMs(entry),
    loadFailures: breaker.failuresInRow,
    retryAtMs: breaker.retryAtMs > nowMs || breaker.broken ? breaker.retryAtMs : null,
    lastError: breaker.lastError,
    wait: entry.wait,
    waitedMs: entry.waited.until(nowMs),
    forecast: world.foresight.forecastStatusOf(entry),
  };
}

function stateOf(
  entry: ModelEntry,
  home: Residency | undefined,
  coming: DeviceUnit | undefined,
  devices: readonly DeviceUnit[],
): ModelStatus["state"] {
  if (entry.remote !== null) return "remote";
  const exit = devices
    .flatMap(({ moves }) => moves)
    .find(({ leaving }) => home !== undefined && leaving.includes(home));
  if (home?.leaving === true) return exit?.phase === "draining" ? "draining" : "unloading";
  if (home !== undefined) return "resident";
  if (coming !== undefined) return "loading";
  if (entry.breaker.broken) return "broken";
  return entry.backend.nextTier?.(entry.spec.name) === "wake" ? "asleep" : "absent";
}

/** What its last load was seen to take, over all its devices; null: it was not. */
function measuredOf({ learned }: ModelEntry): number | null {
  if (learned.memoryGiB.size === 0) return null;
  return [...learned.memoryGiB.values()].reduce((sum, each) => sum + each, 0);
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
