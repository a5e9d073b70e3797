// Which models have memory of a device: what is loaded, and what is loading, which has its memory already and is nowhere yet.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";

export function holdersOf(device: string, models: readonly ModelStatusWire[]): ModelStatusWire[] {
  return models.filter(
    ({ devices, state, homes }) => devices.includes(device) || (state === "loading" && homes.includes(device)),
  );
}
