// What is shown beyond what is on the disk: what models do now, the minute that runs, what was noticed of a live job.

import type { Latest } from "./control.ts";
import type { DeviceUnit } from "./device.ts";
import { type EngineWorld, noticedOf } from "./state.ts";

export function createLatest(world: EngineWorld, devices: readonly DeviceUnit[]): Latest {
  return {
    spans: (grain) => devices.flatMap(({ spans }) => spans.latest(grain)),
    minutes: () => world.minutes.running(),
    noticed: (id) => {
      const live = world.live.get(id);
      return live === undefined ? null : noticedOf(world, live);
    },
  };
}
