// At boot: what an earlier router left running is adopted where it fits and stopped where it does not, before anything
// is loaded. A router that was killed need not pay for a load again.

import type { Backend, Instance } from "../backends/backend.ts";
import { hasRoom } from "./claims.ts";
import type { DeviceUnit } from "./device.ts";
import { stopWithin } from "./driver-call.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

const STOP_GRACE_MS = 30_000;

export async function adoptRunning(world: EngineWorld, devices: readonly DeviceUnit[]): Promise<void> {
  const backends = new Map<Backend, ModelEntry[]>();
  for (const entry of world.models.values()) {
    if (entry.remote === null) backends.set(entry.backend, [...(backends.get(entry.backend) ?? []), entry]);
  }
  hearOfLost(world, devices);
  for (const [backend, entries] of backends) {
    for (const found of await inspect(backend, entries, world)) await adoptOrStop(found, backend, world, devices);
  }
}

/** Engines that end by themselves are heard of at once, those of backends that a changed configuration brought too. */
export function hearOfLost(world: EngineWorld, devices: readonly DeviceUnit[]): void {
  for (const { backend } of world.models.values()) {
    backend.onLost?.((instance, detail) => {
      for (const device of devices) {
        const lost = device.residents.find((each) => each.instance.instance === instance);
        if (lost !== undefined) return device.lost(lost, detail);
      }
    });
  }
}

/** A device where it may be and has room: where it is, if the driver knows. */
function homeFor(
  found: Instance,
  entry: ModelEntry,
  devices: readonly DeviceUnit[],
  world: EngineWorld,
): DeviceUnit | undefined {
  const { spec } = entry;
  const own = devices.filter((each) => spec.devices.includes(each.spec.id));
  if (spec.across === true) return own.every((each) => hasRoom(each, entry, world)) ? own[0] : undefined;
  return own.find(
    (each) =>
      each.find(spec.name) === null &&
      (found.device === null || found.device === each.spec.id) &&
      hasRoom(each, entry, world),
  );
}

async function inspect(
  backend: Backend,
  entries: readonly ModelEntry[],
  world: EngineWorld,
): Promise<readonly Instance[]> {
  try {
    return await backend.inspect();
  } catch (error) {
    const detail = `It could not be asked what runs: ${error instanceof Error ? error.message : String(error)}`;
    for (const { spec } of entries) world.emit({ type: "instance.lost", model: spec.name, device: null, detail });
    return [];
  }
}

async function adoptOrStop(
  found: Instance,
  backend: Backend,
  world: EngineWorld,
  devices: readonly DeviceUnit[],
): Promise<void> {
  const entry = world.models.get(found.model);
  const device = entry === undefined ? undefined : homeFor(found, entry, devices, world);
  const { signal } = new AbortController();
  if (device !== undefined && entry !== undefined && (await backend.alive(found, signal).catch(() => false))) {
    device.adopt(found, entry);
    return;
  }
  const stopped = await stopWithin({ instance: found, backend }, STOP_GRACE_MS, world.clock);
  if (stopped.memory !== "held") return;
  const detail = `It was left running by an earlier router and would not stop: ${stopped.detail}`;
  world.emit({ type: "instance.lost", model: found.model, device: found.device, detail });
  const blocked = devices.find(({ spec }) => spec.id === found.device) ?? devices[0];
  if (blocked !== undefined) blocked.blockedUntilMs = world.clock.nowMs() + 60_000;
}
