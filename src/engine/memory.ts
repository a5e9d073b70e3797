// "The process is gone" is not "the memory is back": where free memory can be asked for, a load waits until it is.

import { sleepUntil } from "../domain/clock.ts";
import type { DeviceId } from "../domain/ids.ts";
import type { EngineWorld } from "./state.ts";

const WAIT_MS = 60_000;
const LOOK_MS = 500;

/** Null: as much is free, or nobody can say, or nobody wants it any more. Else in words, after a minute, what is free. */
export async function memoryShort(
  world: Pick<EngineWorld, "clock" | "freeGiB">,
  device: DeviceId,
  neededGiB: number,
  calledOff: AbortSignal,
): Promise<string | null> {
  const { clock } = world;
  const untilMs = clock.nowMs() + WAIT_MS;
  for (;;) {
    const freeGiB = await world.freeGiB(device);
    if (freeGiB === null || freeGiB >= neededGiB || calledOff.aborted) return null;
    if (clock.nowMs() >= untilMs) return `${freeGiB.toFixed(1)} GiB are free`;
    await sleepUntil(clock, clock.nowMs() + LOOK_MS, calledOff);
  }
}
