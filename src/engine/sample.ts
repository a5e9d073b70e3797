// At each pass: what holds from now on is noted, so that how long it held is known later.

import type { ModelName } from "../domain/ids.ts";
import type { DeviceUnit } from "./device.ts";
import type { EngineWorld } from "./state.ts";

/** Whether each device has work, and which models wait for a visit. O(models x devices). */
export function sampleMeters({ clock, models }: EngineWorld, devices: readonly DeviceUnit[]): void {
  const nowMs = clock.nowMs();
  const resident = new Set<ModelName>();
  for (const device of devices) {
    for (const { instance, leaving } of device.residents) if (!leaving) resident.add(instance.model);
    let busy = device.residents.some(({ running }) => running.size > 0);
    for (const { spec, queue } of models.values()) busy ||= queue.depth > 0 && spec.devices.includes(device.spec.id);
    device.busy.sample(busy, nowMs);
  }
  for (const entry of models.values()) {
    const { spec, queue } = entry;
    if (queue.depth === 0 || resident.has(spec.name)) entry.unvisitedSinceMs = null;
    else if (devices.some(({ spec: { id }, move }) => move === null && spec.devices.includes(id))) {
      entry.unvisitedSinceMs ??= nowMs;
    }
  }
}
