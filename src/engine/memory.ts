// "The process is gone" is not "the memory is back": where free memory can be asked for, a load waits until it is, and what
// it then takes is kept beside what the configuration claims for it.

import { sleepUntil } from "../domain/clock.ts";
import type { DeviceId } from "../domain/ids.ts";
import { configuredGiB } from "./claims.ts";
import type { DeviceUnit } from "./device.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

const WAIT_MS = 60_000;
const LOOK_MS = 500;
/** A claim is not called too low for so little. */
const NOISE_GIB = 0.1;

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

interface Reading {
  readonly unit: DeviceUnit;
  readonly freeGiB: number;
  readonly residents: number;
}

/**
 * What a load is seen to take: free memory before it less free memory after it, on each device that can be asked. Nothing
 * is learned where anything left the device meanwhile.
 */
export class MemoryWatch {
  readonly #world: EngineWorld;
  readonly #before: readonly Reading[];

  private constructor(world: EngineWorld, before: readonly Reading[]) {
    this.#world = world;
    this.#before = before;
  }

  static async begin(world: EngineWorld, home: readonly DeviceUnit[]): Promise<MemoryWatch> {
    const before: Reading[] = [];
    for (const unit of home) {
      if (unit.spec.memoryProbe === null || unit.spec.memoryGiB === null) continue;
      const freeGiB = await world.freeGiB(unit.spec.id);
      if (freeGiB !== null) before.push({ unit, freeGiB, residents: unit.residents.length });
    }
    return new MemoryWatch(world, before);
  }

  /** After the model has joined its devices. */
  async end(entry: ModelEntry): Promise<void> {
    for (const { unit, freeGiB, residents } of this.#before) {
      const afterGiB = await this.#world.freeGiB(unit.spec.id);
      const others = unit.moves.length > 1 || unit.residents.length !== residents + 1;
      if (afterGiB === null || others || freeGiB <= afterGiB) continue;
      const measuredGiB = freeGiB - afterGiB;
      const claimedGiB = configuredGiB(entry);
      entry.learned.memoryGiB.set(unit.spec.id, measuredGiB);
      if (claimedGiB === null || measuredGiB <= claimedGiB + NOISE_GIB) continue;
      const { name: model } = entry.spec;
      this.#world.emit({ type: "memory.over_claim", model, device: unit.spec.id, claimedGiB, measuredGiB });
    }
  }
}
