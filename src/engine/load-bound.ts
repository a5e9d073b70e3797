// The latest instant at which a model is loaded, as the ceiling promises it.

import { allResidents, type DeviceUnit } from "./device.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry } from "./state.ts";

/**
 * What is left of the ceiling, then for each other model that has work one load with its residency and its overdue drain,
 * then its own load. Its own load alone where no other model has work. Null without a ceiling, while it is broken, or while
 * an operator holds it back.
 */
export function loadBoundMs(
  entry: ModelEntry,
  devices: readonly DeviceUnit[],
  world: EngineWorld,
  working: readonly ModelEntry[] = workingModels(devices, world),
): number | null {
  const nowMs = world.clock.nowMs();
  const { guards } = world.settings.policy;
  const oldest = entry.queue.oldest();
  if (guards.maxWaitMs === null || entry.breaker.retryAtMs > nowMs || oldest === null) return null;
  if (world.pauses.over(entry.spec) !== null) return null;
  const turnMs = (guards.minResidencyMs ?? 0) + world.settings.drainMs;
  const rivals = working.filter((other) => other !== entry);
  const ownMs = expectedLoadMs(entry);
  const ceilingMs = Math.max(0, guards.maxWaitMs - (nowMs - oldest.acceptedAtMs));
  if (rivals.length === 0) return ownMs + idleLapseMs(entry, devices, ceilingMs, guards.switchCostWeight * ownMs);
  return rivals.reduce((sum, rival) => sum + expectedLoadMs(rival) + turnMs, ceilingMs + ownMs);
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
