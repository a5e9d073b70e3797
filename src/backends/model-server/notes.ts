// What a driver saw and did about its models, for servers that have no log to read.

import type { Clock } from "../../domain/clock.ts";
import type { ModelName } from "../../domain/ids.ts";
import { LogRing } from "../log-ring.ts";

const BOUNDS = { maxLines: 200, maxBytes: 128 * 1024 };

export class Notes {
  readonly #clock: Clock;
  readonly #rings: ReadonlyMap<ModelName, LogRing>;

  constructor(clock: Clock, models: readonly ModelName[]) {
    this.#clock = clock;
    this.#rings = new Map(models.map((model) => [model, new LogRing(BOUNDS)]));
  }

  add(model: ModelName, text: string): void {
    this.#rings.get(model)?.push(`${new Date(this.#clock.wallMs()).toISOString()} ${text}`);
  }

  /** Oldest first. */
  newest(model: ModelName, count: number): readonly string[] {
    return this.#rings.get(model)?.last(count) ?? [];
  }

  async *follow(model: ModelName, count: number, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const ring = this.#rings.get(model);
    if (ring !== undefined) yield* ring.follow(signal, count);
  }
}
