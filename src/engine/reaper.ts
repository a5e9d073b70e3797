// What time alone brings about: lapsed leases, passed deadlines, old answers, a store to be kept in order, idle engines to
// be looked after. Each duty is named, so that several routers can share them out later.

import type { Timer } from "../domain/clock.ts";
import type { JobId } from "../domain/ids.ts";
import { StoreError } from "../store/store.ts";
import type { DeviceUnit } from "./device.ts";
import type { ExpiryWheel, Leases } from "./leases.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { reconcile } from "./recovery.ts";
import type { EngineWorld } from "./state.ts";
import { Watchdog } from "./watchdog.ts";

const MAINTAIN_EVERY_MS = 10_000;
const PRUNE_EVERY_MS = 5_000;
const RETRY_MS = 1_000;
const RECONCILE_EVERY_MS = 5_000;
/** How long after an unacknowledged commit its job may still turn up, and how far back it was accepted at most. */
const RECONCILE_FOR_MS = 120_000;

export class Reaper {
  readonly #world: EngineWorld;
  readonly #leases: Leases;
  readonly #deadlines: ExpiryWheel;
  readonly #lifecycle: Lifecycle;
  readonly #devices: readonly DeviceUnit[];
  readonly #timers = new Map<string, Timer>();
  readonly #watchdog: Watchdog;
  #stopped = false;
  #doubtUntilMs = 0;

  constructor(
    world: EngineWorld,
    parts: { leases: Leases; deadlines: ExpiryWheel; lifecycle: Lifecycle; devices: readonly DeviceUnit[] },
  ) {
    this.#world = world;
    this.#leases = parts.leases;
    this.#deadlines = parts.deadlines;
    this.#lifecycle = parts.lifecycle;
    this.#devices = parts.devices;
    this.#watchdog = new Watchdog(world);
  }

  start(): void {
    this.#every("leases", this.#world.settings.sweepMs, (lateMs) => this.#sweep(lateMs));
    this.#every("reconcile", RECONCILE_EVERY_MS, async () => {
      const nowMs = this.#world.clock.nowMs();
      if (nowMs > this.#doubtUntilMs) return;
      await reconcile(this.#world, this.#lifecycle, nowMs - 2 * RECONCILE_FOR_MS);
    });
    this.#every("prune", PRUNE_EVERY_MS, () => this.#prune());
    this.#every("maintain", MAINTAIN_EVERY_MS, () => this.#world.store.maintain());
    this.#every("engines", MAINTAIN_EVERY_MS, () => this.#lookAfterEngines());
  }

  /** A job may be stored that nobody has admitted. */
  doubt(): void {
    this.#doubtUntilMs = this.#world.clock.nowMs() + RECONCILE_FOR_MS;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
  }

  /** Runs a duty, then sets its next time: a slow one is never run twice at once. It is told how late it is. */
  #every(name: string, everyMs: number, duty: (lateMs: number) => Promise<void>): void {
    const { clock, emit, fatal } = this.#world;
    let dueMs = clock.nowMs() + everyMs;
    const run = async (): Promise<void> => {
      try {
        await duty(Math.max(0, clock.nowMs() - dueMs));
      } catch (error) {
        if (!(error instanceof StoreError)) fatal(error);
        else emit({ type: "store.unavailable", verb: name, detail: error.message });
      }
      if (this.#stopped) return;
      dueMs = clock.nowMs() + everyMs;
      this.#timers.set(
        name,
        clock.at(dueMs, () => void run()),
      );
    };
    this.#timers.set(
      name,
      clock.at(dueMs, () => void run()),
    );
  }

  /** A process that was stopped, or whose loop was blocked, heard no polls: that time counts against nobody's lease. */
  async #sweep(lateMs: number): Promise<void> {
    const nowMs = this.#world.clock.nowMs();
    if (lateMs >= this.#world.settings.sweepMs) this.#leases.postpone(lateMs);
    const lapsed = this.#leases.lapsed(nowMs).map((id) => {
      const reason = this.#leases.isOrphan(id) ? "disconnect" : "lease_expired";
      return this.#end(id, () => this.#lifecycle.end(id, { type: "cancel", reason }));
    });
    const late = this.#deadlines.due(nowMs).map((id) => this.#end(id, () => this.#deadlinePassed(id)));
    await Promise.all([...lapsed, ...late]);
  }

  /** Before it started: expired. While it runs: cancelled. Its claim may be under way, so the store has the last word. */
  async #deadlinePassed(id: JobId): Promise<void> {
    const live = this.#world.live.get(id);
    if (live === undefined) return;
    const started = live.phase !== "queued" && live.phase !== "delayed";
    await this.#lifecycle.end(id, started ? { type: "cancel", reason: "deadline" } : { type: "expire" });
  }

  /** Tries again a second later when the store could not: what is due stays due. */
  async #end(id: JobId, end: () => Promise<unknown>): Promise<void> {
    try {
      await end();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#world.emit({ type: "store.unavailable", verb: "end", detail: error.message });
      const { clock } = this.#world;
      clock.at(clock.nowMs() + RETRY_MS, () => {
        if (!this.#stopped && this.#world.live.has(id)) void this.#end(id, end).catch(this.#world.fatal);
      });
    }
  }

  async #prune(): Promise<void> {
    while (!this.#stopped && (await this.#world.store.prune()));
  }

  /** An engine that died while idle leaves the resident set before the next job finds out. */
  async #lookAfterEngines(): Promise<void> {
    for (const device of this.#devices) {
      for (const resident of [...device.residents]) {
        if (resident.devices[0] !== device.spec.id) continue;
        await this.#watchdog.look(device, resident);
        if (resident.leaving || resident.running.size > 0) continue;
        const { signal } = new AbortController();
        const alive = await resident.backend.alive(resident.instance, signal).catch(() => false);
        if (!alive) device.lost(resident, "It did not answer while idle.");
      }
    }
  }
}
