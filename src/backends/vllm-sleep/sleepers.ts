// Which engines of this machine sleep, over all models, and how much work each awake one has in hand. They share the
// main memory, so that one bound holds for all.

import type { ModelName } from "../../domain/ids.ts";
import type { DriverContext } from "../backend.ts";
import type { Hosted } from "../process/host.ts";

const rooms = new WeakMap<DriverContext, Sleepers>();

export function sleepersOf(context: DriverContext): Sleepers {
  const sleepers = rooms.get(context) ?? new Sleepers();
  rooms.set(context, sleepers);
  return sleepers;
}

export class Sleepers {
  /** In the order in which they fell asleep, with the level at which they did. */
  readonly #asleep = new Map<Hosted, 1 | 2>();
  /** On their way, in either direction: nothing may be sent to them. */
  readonly #turning = new Set<Hosted>();
  readonly #inFlight = new Map<Hosted, number>();
  readonly #emptied = new Map<Hosted, () => void>();
  #most = Number.POSITIVE_INFINITY;

  get most(): number {
    return this.#most;
  }

  /** The lowest bound that any model gives. */
  bound(most: number): void {
    this.#most = Math.min(this.#most, most);
  }

  /** Whether an engine of the model sleeps that can be woken. */
  has(model: ModelName, usable: (engine: Hosted) => boolean): boolean {
    return [...this.#asleep.keys()].some((engine) => engine.model === model && usable(engine));
  }

  levelOf(engine: Hosted): 1 | 2 | null {
    return this.#asleep.get(engine) ?? null;
  }

  fell(engine: Hosted, level: 1 | 2): void {
    this.#asleep.set(engine, level);
  }

  rose(engine: Hosted): void {
    this.#asleep.delete(engine);
  }

  /** The one that has slept longest and is not being woken, when one more would be too many. */
  surplus(): Hosted | null {
    if (this.#asleep.size < this.#most) return null;
    return [...this.#asleep.keys()].find((engine) => !this.#turning.has(engine)) ?? null;
  }

  /** Nothing is sent to it until `turned`. False: somebody is at it already. */
  turn(engine: Hosted): boolean {
    if (this.#turning.has(engine)) return false;
    this.#turning.add(engine);
    return true;
  }

  turned(engine: Hosted): void {
    this.#turning.delete(engine);
  }

  isAwake(engine: Hosted): boolean {
    return !this.#asleep.has(engine) && !this.#turning.has(engine);
  }

  inFlight(engine: Hosted): number {
    return this.#inFlight.get(engine) ?? 0;
  }

  /** Counts while `work` runs. */
  async during<T>(engine: Hosted, work: () => Promise<T>): Promise<T> {
    this.#inFlight.set(engine, this.inFlight(engine) + 1);
    try {
      return await work();
    } finally {
      const left = this.inFlight(engine) - 1;
      if (left > 0) this.#inFlight.set(engine, left);
      else {
        this.#inFlight.delete(engine);
        this.#emptied.get(engine)?.();
      }
    }
  }

  /** Resolves when nothing is in flight, or when `signal` is aborted. */
  untilIdle(engine: Hosted, signal: AbortSignal): Promise<void> {
    if (this.inFlight(engine) === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#emptied.delete(engine);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#emptied.set(engine, done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
