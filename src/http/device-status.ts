// A device's state on the wire, in numbers and in words.

import type { DeviceStatusWire } from "../client/wire-status.ts";
import type { LabelOf } from "../domain/life.ts";
import type { DeviceStatus, EngineStatus } from "../engine/control.ts";
import type { DeviceOverview, Overview } from "../engine/overview.ts";
import { deviceNext, deviceSummary } from "../explain/device-words.ts";
import { decisionWire } from "./decision-wire.ts";
import type { HttpWorld } from "./deps.ts";
import { aheadMs } from "./instants.ts";
import { tenths, wallSeconds } from "./models.ts";
import { pauseWire } from "./pause-wire.ts";
import { seconds } from "./receipt.ts";

const NOTHING: DeviceOverview = { tenants: [], move: null, blocked: null, swapShare: 0, swaps: 0, next: null };

export function deviceStatusWires(world: HttpWorld, status: EngineStatus, overview: Overview): DeviceStatusWire[] {
  const labels = new Map(status.models.map(({ spec }) => [spec.name, spec.label]));
  const label: LabelOf = (model) => labels.get(model) ?? model;
  return status.devices.map((device) => deviceWire(world, device, status, overview, label));
}

function deviceWire(
  world: HttpWorld,
  device: DeviceStatus,
  { models }: EngineStatus,
  { devices }: Overview,
  label: LabelOf,
): DeviceStatusWire {
  const overview = devices.get(device.device) ?? NOTHING;
  const nowMs = world.clock.nowMs();
  const facts = { device, overview, models, nowMs, wallMs: nowMs + aheadMs(world) };
  return {
    id: device.device,
    phase: device.phase,
    models: device.models,
    memory_gib: device.memoryGiB,
    claimed_gib: tenths(device.claimedGiB),
    since: wallSeconds(world, device.sinceMs) ?? 0,
    paused: device.paused,
    pause: pauseWire(world, device.pause),
    decision: device.decision === null ? null : decisionWire(device.decision),
    preload_left_seconds: device.preloadLeftMs === null ? null : seconds(device.preloadLeftMs),
    summary: deviceSummary(facts, label),
    next: deviceNext(facts, label),
    swap_share_1h: Math.round(overview.swapShare * 10_000) / 10_000,
    swaps_1h: overview.swaps,
  };
}
