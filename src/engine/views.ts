// The engine's state as the scheduler sees it: one snapshot a device, O(models).

import { BANDS, type Band } from "../domain/band.ts";
import type { ModelName } from "../domain/ids.ts";
import { copyPays } from "../scheduler/replica.ts";
import type { BandView, DeviceView, ModelView, Resident, Snapshot, Transition } from "../scheduler/snapshot.ts";
import { claimGiB } from "./claims.ts";
import type { DeviceUnit } from "./device.ts";
import type { ActiveMove } from "./move.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry, type Residency } from "./state.ts";

/** @param eventAtMs When anything last happened; absent: now. */
export function snapshotOf(
  device: DeviceUnit,
  devices: readonly DeviceUnit[],
  world: EngineWorld,
  eventAtMs = world.clock.nowMs(),
): Snapshot {
  const nowMs = world.clock.nowMs();
  const partners = partnersOf(device, devices, world);
  const models: ModelView[] = [];
  for (const entry of world.models.values()) {
    const at = standing(entry, device, partners);
    if (at === "away" || (at === "candidate" && !mayCopy(entry, device, devices, world))) continue;
    models.push(viewOf(entry, device, devices, world, at === "foreign"));
  }
  return {
    nowMs,
    device: deviceView(device, eventAtMs, world),
    ...(partners.length === 0 ? {} : { partners: partners.map((each) => deviceView(each, eventAtMs, world)) }),
    models,
  };
}

function deviceView(device: DeviceUnit, eventAtMs: number, { foresight }: EngineWorld): DeviceView {
  return {
    device: device.spec.id,
    memoryGiB: device.spec.memoryGiB,
    residents: device.residents.map(residentOf),
    transition: transitionOf(device),
    paused: device.paused,
    blockedUntilMs: device.blockedUntilMs,
    preloading: foresight.budgetOf(device.spec.id),
    budget: device.budget,
    busyShare: device.busy.view,
    eventAtMs,
  };
}

/** The other devices of models that are loaded across several, this one among them. */
function partnersOf(device: DeviceUnit, devices: readonly DeviceUnit[], { models }: EngineWorld): DeviceUnit[] {
  const { id } = device.spec;
  const groups = [...models.values()].filter(({ spec }) => spec.across === true && spec.devices.includes(id));
  return devices.filter((other) => other !== device && groups.some(({ spec }) => spec.devices.includes(other.spec.id)));
}

/**
 * What a model is to a device. One that is loaded across several is decided on at the first of them; what is loaded on a
 * partner may have to go for it, and is `foreign`, also where it might be loaded here too: no second copy is made among
 * partners.
 */
function standing(
  { spec }: ModelEntry,
  device: DeviceUnit,
  partners: readonly DeviceUnit[],
): "candidate" | "resident" | "foreign" | "away" {
  if (device.find(spec.name) !== null) return "resident";
  if (partners.some((each) => each.find(spec.name) !== null)) return "foreign";
  const own = spec.across === true ? spec.devices[0] === device.spec.id : spec.devices.includes(device.spec.id);
  return own ? "candidate" : "away";
}

/** Where a model is loaded elsewhere, or on its way there, one more copy of it must pay. */
function mayCopy(entry: ModelEntry, device: DeviceUnit, devices: readonly DeviceUnit[], world: EngineWorld): boolean {
  const { spec, queue, learned, backend } = entry;
  // Its own load stands on all of its devices, and is no other copy.
  if (spec.across === true) return true;
  const copies = copiesOf(
    entry,
    devices.filter((other) => other !== device),
  );
  if (copies === 0) return true;
  if (world.settings.replicas === false || backend.can.copies !== true) return false;
  // Copies that an operator holds back serve nobody.
  const serving = copiesOf(
    entry,
    devices.filter((other) => other !== device && world.pauses.device(other.spec.id) === null),
  );
  if (serving === 0) return true;
  const { depth } = queue;
  return copyPays({ depth, slots: spec.concurrency, loadMs: expectedLoadMs(entry), service: learned.service }, serving);
}

function copiesOf({ spec: { name } }: ModelEntry, devices: readonly DeviceUnit[]): number {
  return devices.filter((each) => each.find(name)?.leaving === false || each.moves.some((move) => holds(move, name)))
    .length;
}

/** It is coming, or may stay after all. */
function holds(move: ActiveMove, name: ModelName): boolean {
  return move.load === name || (move.phase === "draining" && move.evict.includes(name));
}

function viewOf(
  entry: ModelEntry,
  device: DeviceUnit,
  devices: readonly DeviceUnit[],
  { clock, foresight }: EngineWorld,
  foreign: boolean,
): ModelView {
  const nowMs = clock.nowMs();
  const { spec, queue, breaker, learned } = entry;
  const bands = {} as Record<Band, BandView>;
  const waited = device.waitedAtLoad.get(spec.name);
  for (const band of BANDS) {
    bands[band] = { ...queue.band(band), arrivals: entry.arrivals.of(band), waitedMsAtLoad: waited?.[band] ?? 0 };
  }
  const home =
    device.find(spec.name) ??
    (foreign ? (devices.find((each) => each.find(spec.name)) ?? device) : device).find(spec.name);
  const copies = spec.across === true ? 1 : copiesOf(entry, devices);
  return {
    model: spec.name,
    order: entry.order,
    priority: spec.priority,
    depth: queue.depth,
    bands,
    head: queue.head(),
    oldest: queue.oldest(),
    inFlight: home?.running.size ?? 0,
    slots: spec.concurrency,
    loadMs: expectedLoadMs(entry),
    unloadMs: learned.unloadMs,
    service: { aloneMs: learned.service.aloneMs, slowdownPerJob: learned.service.slowdownPerJob },
    lastArrivalAtMs: entry.arrivals.lastAtMs,
    unvisitedSinceMs: entry.unvisitedSinceMs,
    deadline: queue.deadline(),
    memoryGiB: claimGiB(entry, device.spec),
    retryAtMs: breaker.retryAtMs > nowMs || breaker.broken ? breaker.retryAtMs : 0,
    broken: breaker.broken,
    paused: entry.paused || entry.removed,
    pinned: entry.pinned && !entry.removed,
    unloadAfterMs: entry.removed ? 0 : spec.unloadAfterMs,
    forecast: foresight.forecastOf(entry),
    wanted: wantedOf(entry, device),
    ...(spec.across === true ? { across: spec.devices } : {}),
    ...(spec.apartFrom === undefined ? {} : { apartFrom: spec.apartFrom }),
    ...(foreign ? { foreign } : {}),
    ...(copies > 1 ? { copies } : {}),
    ...(entry.leftAtMs === null ? {} : { leftAtMs: entry.leftAtMs }),
  };
}

function wantedOf(entry: ModelEntry, device: DeviceUnit): ModelView["wanted"] {
  if (entry.removed) return null;
  if (entry.wantedBy !== null) return "operator";
  if (device.restore.includes(entry.spec.name)) return "restore";
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
    ...(residency.leaving ? { leaving: true } : {}),
  };
}

function transitionOf(device: DeviceUnit): Transition | null {
  const { move } = device;
  if (move === null) return null;
  return {
    phase: move.phase,
    load: move.load,
    evict: move.evict,
    sinceMs: move.sinceMs,
    onDemand: move.onDemand,
    ...(move.calledOff.signal.aborted ? { calledOff: true } : {}),
    ...(move.decider === device.spec.id ? {} : { guest: true }),
    ahead: move.ahead ?? false,
  };
}
