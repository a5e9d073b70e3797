// Who holds which device's memory, written by the engines themselves. Shared between mock models it proves that the
// router never loads one model on top of another: an overlap is refused, as a real GPU refuses it, and kept on record.

import type { DeviceId, InstanceId, ModelName } from "../../domain/ids.ts";
import type { Placement } from "../backend.ts";

interface Tenant {
  readonly model: ModelName;
  readonly memoryGiB: number | null;
}

export class GpuLedger {
  readonly #devices = new Map<DeviceId, Map<InstanceId, Tenant>>();
  readonly #capacityGiB: ReadonlyMap<DeviceId, number>;
  /** In words, oldest first; empty in a correct run. The first hundred are kept. */
  readonly violations: string[] = [];

  /** Devices without a capacity hold one model at a time. */
  constructor(capacityGiB: ReadonlyMap<DeviceId, number> = new Map()) {
    this.#capacityGiB = capacityGiB;
  }

  /** True when there was room on each of its devices, which take even shares. A false one occupies nothing. */
  occupy(placement: Placement, memoryGiB: number | null): boolean {
    const devices = devicesOf(placement);
    const shareGiB = memoryGiB === null ? null : memoryGiB / devices.length;
    const full = devices.find((device) => !this.#fits(device, shareGiB));
    if (full !== undefined) {
      if (this.violations.length < 100) {
        this.violations.push(`${placement.model} was loaded on ${full} while ${this.holders(full).join(", ")} held it`);
      }
      return false;
    }
    for (const device of devices) {
      const tenants = this.#devices.get(device) ?? new Map<InstanceId, Tenant>();
      this.#devices.set(device, tenants.set(placement.instance, { model: placement.model, memoryGiB: shareGiB }));
    }
    return true;
  }

  /** Idempotent. */
  release(placement: Placement): void {
    for (const device of devicesOf(placement)) this.#devices.get(device)?.delete(placement.instance);
  }

  holders(device: DeviceId): readonly ModelName[] {
    return [...(this.#devices.get(device)?.values() ?? [])].map((tenant) => tenant.model);
  }

  #fits(device: DeviceId, memoryGiB: number | null): boolean {
    const tenants = [...(this.#devices.get(device)?.values() ?? [])];
    if (tenants.length === 0) return true;
    let leftGiB = this.#capacityGiB.get(device);
    if (leftGiB === undefined || memoryGiB === null) return false;
    for (const tenant of tenants) {
      if (tenant.memoryGiB === null) return false;
      leftGiB -= tenant.memoryGiB;
    }
    return memoryGiB <= leftGiB;
  }
}

function devicesOf({ device, devices }: Placement): readonly DeviceId[] {
  return devices ?? (device === null ? [] : [device]);
}
