// Who would have to go so that a model can be loaded. A device with memory holds as many models as their claims allow; a
// device without, and a model without a claim, mean one model at a time.

import { keepValue } from "./keep.ts";
import type { Tenant } from "./policy.ts";
import type { DeviceView, ModelView, Snapshot } from "./snapshot.ts";

/** Larger than any device: it claims all of one. */
const WHOLE = Number.POSITIVE_INFINITY;

/** The devices that a move of this model takes part of: all of its group, or the snapshot's own. */
export function devicesOf(view: Pick<ModelView, "across">, { device, partners = [] }: Snapshot): DeviceView[] {
  const { across } = view;
  return across === undefined ? [device] : [device, ...partners].filter((each) => across.includes(each.device));
}

/** The model's claim is more than one of its devices has: it never fits. */
export function tooLarge(view: ModelView, device: DeviceView): boolean {
  return view.memoryGiB !== null && device.memoryGiB !== null && view.memoryGiB > device.memoryGiB;
}

/** What models claim of a device, in GiB; infinite when one of them takes it whole. */
function claimed(tenants: readonly Tenant[], device: DeviceView): number {
  const here = tenants.filter(({ model }) => device.residents.some((each) => each.model === model));
  return here.reduce((sum, { memoryGiB }) => sum + (memoryGiB ?? WHOLE), 0);
}

function fits(view: ModelView, device: DeviceView, staying: readonly Tenant[]): boolean {
  const taken = claimed(staying, device);
  return taken === 0 || (device.memoryGiB !== null && taken + (view.memoryGiB ?? WHOLE) <= device.memoryGiB);
}

/**
 * The loaded models that have to go before `view` fits, those worth least first: what it may never be with, then by rising
 * keep-value until there is room on each of its devices, and of those none that could stay after all. Empty when it fits.
 * What is pinned is worth more than anything else, and is among them only when nothing else makes room.
 */
export function victimsOf(view: ModelView, snapshot: Snapshot, tenants: readonly Tenant[]): Tenant[] {
  const devices = devicesOf(view, snapshot);
  const near = tenants.filter(({ model }) =>
    devices.some(({ residents }) => residents.some((each) => each.model === model)),
  );
  const apart = near.filter(({ model }) => view.apartFrom?.includes(model) === true);
  const ranked = near
    .filter((each) => !apart.includes(each))
    .map((each) => ({ each, value: each.pinned ? WHOLE : keepValue(each, snapshot.nowMs) }))
    .sort((a, b) => (a.value === b.value ? byRest(a.each, b.each) : a.value - b.value))
    .map(({ each }) => each);
  const staying = new Set(ranked);
  const isRoom = (): boolean => devices.every((device) => fits(view, device, [...staying]));
  for (const each of ranked) {
    if (isRoom()) break;
    staying.delete(each);
  }
  for (const each of ranked.toReversed()) {
    if (staying.has(each)) continue;
    staying.add(each);
    if (!isRoom()) staying.delete(each);
  }
  return [...apart, ...ranked.filter((each) => !staying.has(each))];
}

/** Idle longest first; the rest in the configuration's order. */
function byRest(a: Tenant, b: Tenant): number {
  return b.idleMs - a.idleMs || a.order - b.order;
}
