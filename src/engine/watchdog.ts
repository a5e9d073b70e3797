// An engine that looks healthy and makes no progress: work in flight, and no byte and no end for too long. It is asked
// for one token; one that does not answer is restarted once, and counts as a failed load when that did not help.

import type { DeviceUnit } from "./device.ts";
import { exitOf } from "./move.ts";
import type { EngineWorld, ModelEntry, Residency } from "./state.ts";

const ANSWER_WITHIN_MS = 60_000;

export class Watchdog {
  readonly #world: EngineWorld;
  readonly #asking = new Set<Residency>();
  /** Restarted for being stuck, and nothing has come of it since. */
  readonly #restarted = new Set<ModelEntry>();

  constructor(world: EngineWorld) {
    this.#world = world;
  }

  async look(device: DeviceUnit, resident: Residency): Promise<void> {
    if (resident.leaving || this.#asking.has(resident)) return;
    const entry = this.#world.models.get(resident.instance.model);
    if (entry === undefined || resident.running.size === 0) return;
    const quietMs = this.#world.clock.nowMs() - resident.progressAtMs;
    if (quietMs < entry.spec.stallMs) {
      if (resident.progressAtMs > resident.sinceMs) this.#restarted.delete(entry);
      return;
    }
    // With every slot taken a question of ours would queue behind them and prove nothing.
    if (resident.running.size >= entry.spec.concurrency) return;
    if (await this.#answers(resident)) {
      resident.progressAtMs = this.#world.clock.nowMs();
      return;
    }
    if (device.residents.includes(resident) && !resident.leaving && device.move === null) this.#restart(device, entry);
  }

  async #answers(resident: Residency): Promise<boolean> {
    const { backend, instance } = resident;
    if (backend.answers === undefined) return true;
    this.#asking.add(resident);
    const limit = new AbortController();
    const timer = this.#world.clock.at(this.#world.clock.nowMs() + ANSWER_WITHIN_MS, () => limit.abort());
    const late = new Promise<false>((resolve) => {
      limit.signal.addEventListener("abort", () => resolve(false), { once: true });
    });
    try {
      return await Promise.race([backend.answers(instance, limit.signal), late]);
    } catch {
      return false;
    } finally {
      timer.cancel();
      this.#asking.delete(resident);
    }
  }

  #restart(device: DeviceUnit, entry: ModelEntry): void {
    const { name } = entry.spec;
    const again = this.#restarted.has(entry);
    this.#world.emit({ type: "instance.stuck", model: name, device: device.spec.id, restart: !again });
    if (again) {
      entry.breaker.trip(this.#world.clock.nowMs(), "it looks healthy and admits nothing, also after a restart");
      this.#world.emit({ type: "breaker", model: name, state: "open", retryAtMs: entry.breaker.retryAtMs });
    } else this.#restarted.add(entry);
    const load = again ? null : name;
    device.begin({ ...exitOf(name, true), load, onDemand: true });
  }
}
