// What charts need beyond what is on the disk: what models do now, and the minute that runs.

import type { Latest } from "./control.ts";
import type { DeviceUnit } from "./device.ts";
import type { EngineWorld } from "./state.ts";

export function createLatest(world: EngineWorld, devices: readonly DeviceUnit[]): Latest {
  return {
    spans: (grain) => devices.flatMap(({ spans }) => spans.latest(grain)),
    minutes: () => world.minutes.running(),
  };
}
