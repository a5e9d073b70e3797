// The latest instant at which a model is loaded, as the ceiling promises it, or the policy by its own rule.

import { BANDS, type Band } from "../domain/band.ts";
import { allResidents, type DeviceUnit } from "./device.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry } from "./state.ts";

/** @param band Of the job that asks; absent: the most urgent that waits. Null: nothing is promised. */
export function loadBoundMs(
  entry: ModelEntry,
  devices: readonly DeviceUnit[],
  world: EngineWorld,
  working: readonly ModelEntry[] = workingModels(devices, world),
  band?: Band,
): number | null {
  if (entry.breaker.retryAtMs > world.clock.nowMs() || world.pauses.over(entry.spec) !== null) return null;
  const bounds = [ceilingBoundMs(entry, devices, world, working), visitBoundMs(entry, devices, world, band)];
  const stated = bounds.filter((each) => each !== null);
  return stated.length === 0 ? null : Math.min(...stated);
}

/**
 * What is left of the ceiling, then for each other model that has work one load with its residency and its overdue drain,
 * then its own load. Its own load alone where no other model has work. Null without a ceiling.
 */
function ceilingBoundMs(
  entry: ModelEntry,
  devices: readonly DeviceUnit[],
  world: EngineWorld,
  working: readonly ModelEntry[],
): number | null {
  const nowMs = world.clock.nowMs();
  const { guards } = world.settings.policy;
  const oldest = entry.queue.oldest();
  if (guards.maxWaitMs === null || oldest === null) return null;
  const turnMs = (guards.minResidencyMs ?? 0) + world.settings.drainMs;
  const rivals = working.filter((other) => other !== entry);
  const ownMs = expectedLoadMs(entry);
  const ceilingMs = Math.max(0, guards.maxWaitMs - (nowMs - oldest.acceptedAtMs));
  if (rivals.length === 0) return ownMs + idleLapseMs(entry, devices, ceilingMs, guards.switchCostWeight * ownMs);
  return rivals.reduce((sum, rival) => sum + expectedLoadMs(rival) + turnMs, ceilingMs + ownMs);
}

/** The policy's own bound on visits, less what has passed, then its own load. Shown for devices that hold one model at a time. */
function visitBoundMs(
  entry: ModelEntry,
  devices: readonly DeviceUnit[],
  { clock, models, settings }: EngineWorld,
  band = BANDS.find((each) => entry.queue.band(each).depth > 0),
): number | null {
  const { policy, drainMs } = settings;
  const homes = devices.filter(({ spec }) => entry.spec.devices.includes(spec.id));
  if (policy.visitBoundMs === undefined || band === undefined) return null;
  if (homes.some(({ spec }) => spec.memoryGiB !== null)) return null;
  const near = [...models.values()].filter(({ spec }) =>
    spec.devices.some((each) => entry.spec.devices.includes(each)),
  );
  const switchMs = near.map((each) => expectedLoadMs(each) + each.learned.unloadMs);
  const waitedMs = clock.nowMs() - (entry.unvisitedSinceMs ?? clock.nowMs());
  return Math.max(0, policy.visitBoundMs({ band, switchMs, drainMs }) - waitedMs) + expectedLoadMs(entry);
}

/** A resident that idles keeps the device for as long as the switch would cost, or until the ceiling. */
function idleLapseMs({ spec }: ModelEntry, devices: readonly DeviceUnit[], ceilingMs: number, lapseMs: number): number {
  const homes = devices.filter((device) => spec.devices.includes(device.spec.id));
  return homes.some(({ residents, move }) => residents.length === 0 && move === null)
    ? 0
    : Math.min(ceilingMs, lapseMs);
}

/** Those on devices that have queued demand or something running. */
export function workingModels(devices: readonly DeviceUnit[], { models }: EngineWorld): ModelEntry[] {
  const busy = new Set(
    allResidents(devices).flatMap(({ instance, running }) => (running.size > 0 ? [instance.model] : [])),
  );
  return [...models.values()].filter(
    ({ remote, queue, spec }) => remote === null && (queue.depth > 0 || busy.has(spec.name)),
  );
}
