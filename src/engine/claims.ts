// How much of a device a model is booked with: what the configuration claims, or what a load was seen to take where that
// is more.

import type { DeviceSpec } from "../domain/model.ts";
import type { DeviceUnit } from "./device.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

/** What the configuration claims on each of its devices; null: all of one. */
export function configuredGiB({ spec }: Pick<ModelEntry, "spec">): number | null {
  return spec.memoryGiB === null ? null : spec.memoryGiB / (spec.across ? spec.devices.length : 1);
}

/** Of one of its devices, in GiB; null: all of it. A claim that was seen to be too low books no more than there is. */
export function claimGiB(entry: ModelEntry, device: DeviceSpec): number | null {
  const share = configuredGiB(entry);
  if (share === null || device.memoryGiB === null) return share;
  const seen = entry.learned.memoryGiB.get(device.id) ?? 0;
  return Math.max(share, Math.min(seen, device.memoryGiB));
}

/** What the models on a device are booked with together, in GiB; infinite where one takes the whole of it. */
export function claimedGiB(unit: DeviceUnit, { models }: EngineWorld): number {
  return unit.residents.reduce((sum, { instance }) => {
    const entry = models.get(instance.model);
    const claim = entry === undefined ? null : claimGiB(entry, unit.spec);
    return sum + (claim ?? Number.POSITIVE_INFINITY);
  }, 0);
}

/** It can be taken in beside what is there. */
export function hasRoom(unit: DeviceUnit, entry: ModelEntry, world: EngineWorld): boolean {
  const claimed = claimedGiB(unit, world);
  const claim = claimGiB(entry, unit.spec) ?? Number.POSITIVE_INFINITY;
  if (claimed === 0) return true;
  return unit.spec.memoryGiB !== null && claimed + claim <= unit.spec.memoryGiB;
}
