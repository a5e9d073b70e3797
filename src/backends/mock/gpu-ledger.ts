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

  /** True when there was room. A false one occupies nothing. */
  occupy(placement: Placement, memoryGiB: number | null): boolean {
    if (placement.device === null) return true;
    const tenants = this.#devices.get(placement.device) ?? new Map<InstanceId, Tenant>();
    if (tenants.size > 0 && !this.#fits(placement.device, [...tenants.values()], memoryGiB)) {
      const holders = [...tenants.values()].map((tenant) => tenant.model).join(", ");
      if (this.violations.length < 100) {
        this.violations.push(`${placement.model} was loaded on ${placement.device} while ${holders} held it`);
      }
      return false;
    }
    tenants.set(placement.instance, { model: placement.model, memoryGiB });
    this.#devices.set(placement.device, tenants);
    return true;
  }

  /** Idempotent. */
  release(placement: Placement): void {
    if (placement.device !== null) this.#devices.get(placement.device)?.delete(placement.instance);
  }

  holders(device: DeviceId): readonly ModelName[] {
    return [...(this.#devices.get(device)?.values() ?? [])].map((tenant) => tenant.model);
  }

  #fits(device: DeviceId, tenants: readonly Tenant[], memoryGiB: number | null): boolean {
    let leftGiB = this.#capacityGiB.get(device);
    if (leftGiB === undefined || memoryGiB === null) return false;
    for (const tenant of tenants) {
      if (tenant.memoryGiB === null) return false;
      leftGiB -= tenant.memoryGiB;
    }
    return memoryGiB <= leftGiB;
  }
}
