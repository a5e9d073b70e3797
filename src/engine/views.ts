// The engine's state as the scheduler sees it: one snapshot a device, O(models).

import { BANDS, type Band } from "../domain/band.ts";
import type { BandView, ModelView, Resident, Snapshot, Transition } from "../scheduler/snapshot.ts";
import type { DeviceUnit } from "./device.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry, type Residency } from "./state.ts";

/** @param eventAtMs When anything last happened; absent: now. */
export function snapshotOf(
  device: DeviceUnit,
  devices: readonly DeviceUnit[],
  world: EngineWorld,
  eventAtMs?: number,
): Snapshot {
  const nowMs = world.clock.nowMs();
  const models: ModelView[] = [];
  for (const entry of world.models.values()) {
    if (!entry.spec.devices.includes(device.spec.id) && device.resident?.instance.model !== entry.spec.name) continue;
    if (isElsewhere(entry, device, devices)) continue;
    models.push(viewOf(entry, device, nowMs));
  }
  return {
    nowMs,
    device: {
      device: device.spec.id,
      memoryGiB: device.spec.memoryGiB,
      residents: device.resident === null ? [] : [residentOf(device.resident)],
      transition: transitionOf(device),
      paused: device.paused,
      blockedUntilMs: device.blockedUntilMs,
      budget: device.budget,
      busyShare: device.busy.view,
      eventAtMs: eventAtMs ?? nowMs,
    },
    models,
  };
}

/** Resident on another device, or on its way there: one copy of a model is enough for now. */
function isElsewhere(entry: ModelEntry, device: DeviceUnit, devices: readonly DeviceUnit[]): boolean {
  const { name } = entry.spec;
  return devices.some(
    (other) =>
      other !== device && (other.move === null ? other.resident?.instance.model === name : heldBy(other, name)),
  );
}

function heldBy(other: DeviceUnit, name: ModelEntry["spec"]["name"]): boolean {
  return other.move?.load === name || (other.move?.phase === "draining" && other.move.evict === name);
}

function viewOf(entry: ModelEntry, device: DeviceUnit, nowMs: number): ModelView {
  const { spec, queue, breaker, learned } = entry;
  const bands = {} as Record<Band, BandView>;
  const waited = device.waitedAtLoad.get(spec.name);
  for (const band of BANDS) {
    bands[band] = { ...queue.band(band), arrivals: entry.arrivals.of(band), waitedMsAtLoad: waited?.[band] ?? 0 };
  }
  const resident = device.resident?.instance.model === spec.name ? device.resident : null;
  return {
    model: spec.name,
    order: entry.order,
    priority: spec.priority,
    depth: queue.depth,
    bands,
    head: queue.head(),
    oldest: queue.oldest(),
    inFlight: resident?.running.size ?? 0,
    slots: spec.concurrency,
    loadMs: expectedLoadMs(entry),
    unloadMs: learned.unloadMs,
    service: { aloneMs: learned.service.aloneMs, slowdownPerJob: learned.service.slowdownPerJob },
    lastArrivalAtMs: entry.arrivals.lastAtMs,
    unvisitedSinceMs: entry.unvisitedSinceMs,
    deadline: queue.deadline(),
    memoryGiB: claimOf(spec, device.spec),
    retryAtMs: breaker.retryAtMs > nowMs || breaker.broken ? breaker.retryAtMs : 0,
    broken: breaker.broken,
    paused: entry.paused || entry.removed,
    pinned: entry.pinned && !entry.removed,
    unloadAfterMs: entry.removed ? 0 : spec.unloadAfterMs,
    wanted: wantedOf(entry, device),
    ...(entry.leftAtMs === null ? {} : { leftAtMs: entry.leftAtMs }),
  };
}

/** One model at a time for now: what fits takes a whole device. */
function claimOf({ memoryGiB }: ModelEntry["spec"], device: DeviceUnit["spec"]): number | null {
  return memoryGiB !== null && device.memoryGiB !== null && memoryGiB > device.memoryGiB ? memoryGiB : null;
}

function wantedOf(entry: ModelEntry, device: DeviceUnit): ModelView["wanted"] {
  if (entry.removed) return null;
  if (entry.wanted) return "operator";
  if (device.restore === entry.spec.name) return "restore";
  if (!entry.standing) return null;
  return entry.pinned ? "pinned" : "keep_ready";
}

function residentOf(residency: Residency): Resident {
  return {
    model: residency.instance.model,
    sinceMs: residency.sinceMs,
    idleSinceMs: residency.idleSinceMs,
    dispatched: residency.dispatched,
    forced: residency.forced,
  };
}

function transitionOf(device: DeviceUnit): Transition | null {
  const { move } = device;
  if (move === null) return null;
  return {
    phase: move.phase,
    load: move.load,
    evict: move.evict === null ? [] : [move.evict],
    sinceMs: move.sinceMs,
    onDemand: move.onDemand,
  };
}
