// Which models have memory of a device: what is loaded, and what is loading, which has its memory already and is nowhere
// yet. One that room is still made for has none.

import type { DeviceStatusWire, ModelStatusWire } from "../../../src/client/wire-status.ts";

export function holdersOf(
  { id, phase }: Pick<DeviceStatusWire, "id" | "phase">,
  models: readonly ModelStatusWire[],
): ModelStatusWire[] {
  return models.filter(
    ({ devices, state, homes }) =>
      devices.includes(id) || (state === "loading" && phase === "loading" && homes.includes(id)),
  );
}
