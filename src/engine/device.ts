// One device: what is resident on it, and the road from one model to the next. The only writer of residency.
//
//   empty ──load──► loading ──ready──► resident ──move──► draining ──empty──► unloading ──stopped──► empty
//                      │ failed, timed out, abandoned        │ called off: resident again
//                      ▼                                     ▼
//                    empty                                resident
//
// A stop that fails leaves the resident where it is and blocks the device for a while: nothing is started on top of it.
// Everything here runs beside the loop and only wakes it; nothing here decides.

import type { Backend, Instance } from "../backends/backend.ts";
import type { Timer } from "../domain/clock.ts";
import type { DevicePhase } from "../domain/event.ts";
import type { ModelName } from "../domain/ids.ts";
import type { DeviceSpec } from "../domain/model.ts";
import type { Budget } from "../scheduler/snapshot.ts";
import { startWithin, stopWithin } from "./driver-call.ts";
import { memoryShort } from "./memory.ts";
import { BusyMeter, type PerBand, perBand, WorkMeter } from "./meters.ts";
import type { ActiveMove, DeviceJobs, Move } from "./move.ts";
import type { EngineWorld, ModelEntry, Residency } from "./state.ts";

const STOP_GRACE_MS = 30_000;
const BLOCKED_FIRST_MS = 5_000;
const BLOCKED_MAX_MS = 60_000;

export class DeviceUnit {
  readonly spec: DeviceSpec;
  resident: Residency | null = null;
  move: ActiveMove | null = null;
  paused = false;
  blockedUntilMs = 0;
  /** The model that was evicted for a load that failed; put back when nothing better is to do. */
  restore: ModelName | null = null;
  phaseSinceMs: number;
  /** Written by the loop; null: nothing was spent yet. */
  budget: Budget | null = null;
  readonly busy: BusyMeter;
  /** What each model's queued jobs had waited, in job-ms, when the last load ended. */
  waitedAtLoad: ReadonlyMap<ModelName, PerBand> = new Map();
  readonly #world: EngineWorld;
  readonly #jobs: DeviceJobs;
  #loadEpoch = 0;
  /** In a row. */
  #blocks = 0;
  #phase: DevicePhase = "empty";
  #emptied: (() => void) | null = null;

  constructor(spec: DeviceSpec, world: EngineWorld, jobs: DeviceJobs) {
    this.spec = spec;
    this.#world = world;
    this.#jobs = jobs;
    this.phaseSinceMs = world.clock.nowMs();
    this.busy = new BusyMeter(this.phaseSinceMs);
  }

  get phase(): DevicePhase {
    return this.#phase;
  }

  /** Takes over what an earlier router left running; only while nothing is here. */
  adopt(instance: Instance, entry: ModelEntry): void {
    this.#loadEpoch = Math.max(this.#loadEpoch, instance.epoch);
    this.resident = residencyOf({ ...instance, device: this.spec.id }, entry.backend, this.#world.clock.nowMs(), false);
    entry.standing = false;
    const { model } = instance;
    this.#world.emit({ type: "instance.adopted", model, device: this.spec.id, instance: instance.instance });
    this.notePhase();
  }

  /** Starts a move; the caller has made sure that none is under way. */
  begin(move: Move): void {
    const nowMs = this.#world.clock.nowMs();
    const active: ActiveMove = {
      ...move,
      phase: this.resident === null ? "loading" : "draining",
      evict: this.resident?.instance.model ?? null,
      sinceMs: nowMs,
      phaseSinceMs: nowMs,
      calledOff: new AbortController(),
      progress: null,
    };
    this.move = active;
    this.notePhase();
    this.#carryOut(active).catch((error: unknown) => this.#world.fatal(error));
  }

  /** Calls off a drain, or abandons a load; an unload goes on to its end, and no load follows it. */
  callOff(): void {
    this.move?.calledOff.abort();
  }

  /** The engine behind the resident is gone: clears up before anything else is loaded. */
  lost(detail: string): void {
    const resident = this.resident;
    if (resident === null || this.move !== null) return;
    this.#world.emit({ type: "instance.lost", model: resident.instance.model, device: this.spec.id, detail });
    const entry = this.#world.models.get(resident.instance.model);
    if (entry?.pinned === true) entry.standing = true;
    this.begin({ load: null, force: true, onDemand: false, forced: false, swap: false, decision: null });
  }

  /** Called whenever a slot of the resident becomes free. */
  slotFreed(): void {
    if (this.resident === null || this.resident.running.size === 0) this.#emptied?.();
    this.notePhase();
  }

  /** Tells listeners when what the device does has changed. */
  notePhase(): void {
    const phase = this.#currentPhase();
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.phaseSinceMs = this.#world.clock.nowMs();
    this.#world.emit({ type: "device.phase", device: this.spec.id, phase, atMs: this.phaseSinceMs });
  }

  #currentPhase(): DevicePhase {
    if (this.move !== null) return this.move.phase;
    if (this.blockedUntilMs > this.#world.clock.nowMs()) return "blocked";
    if (this.resident === null) return "empty";
    return this.resident.running.size > 0 ? "serving" : "idle";
  }

  async #carryOut(move: ActiveMove): Promise<void> {
    const out = this.resident === null || (await this.#out(move, this.resident));
    if (out && move.load !== null && !move.calledOff.signal.aborted) {
      const entry = this.#world.models.get(move.load);
      if (entry !== undefined && (await this.#memoryIsBack(move, entry))) await this.#load(move, entry);
    }
    this.move = null;
    this.notePhase();
    this.#world.wake("load");
  }

  /** Drains and stops the resident; false when it stays. */
  async #out(move: ActiveMove, resident: Residency): Promise<boolean> {
    if (!(await this.#drain(move, resident))) return false;
    this.#enter(move, "unloading");
    const { clock } = this.#world;
    const startedAtMs = clock.nowMs();
    const stopped = await stopWithin(resident, STOP_GRACE_MS, clock);
    if (stopped.memory === "held") {
      const { model } = resident.instance;
      this.#block(`${model} would not stop: ${stopped.detail}`);
      return false;
    }
    this.blockedUntilMs = 0;
    this.resident = null;
    const entry = this.#world.models.get(resident.instance.model);
    if (entry !== undefined) {
      entry.leftAtMs = clock.nowMs();
      entry.learned.unloaded(clock.nowMs() - startedAtMs);
    }
    this.#world.emit({
      type: "unload.finished",
      model: resident.instance.model,
      device: this.spec.id,
      tookMs: clock.nowMs() - startedAtMs,
      memory: stopped.memory,
      swap: move.swap,
    });
    return true;
  }

  /** Blocks the device when what the model takes does not come free. */
  async #memoryIsBack(move: ActiveMove, { spec }: ModelEntry): Promise<boolean> {
    if (spec.memoryGiB === null || this.spec.memoryProbe === null) return true;
    const { signal } = move.calledOff;
    const short = await memoryShort(this.#world, this.spec.id, spec.memoryGiB, signal);
    if (short === null) return !signal.aborted;
    this.#block(`${short}, and ${spec.name} needs ${spec.memoryGiB} GiB`);
    return false;
  }

  /** Nothing is started here for a while, each time longer. */
  #block(detail: string): void {
    const waitMs = Math.min(BLOCKED_MAX_MS, BLOCKED_FIRST_MS * 2 ** this.#blocks++);
    this.blockedUntilMs = this.#world.clock.nowMs() + waitMs;
    this.#world.emit({ type: "device.blocked", device: this.spec.id, detail, untilMs: this.blockedUntilMs });
  }

  /** Waits until nothing runs on the resident; false when called off before that. */
  async #drain(move: ActiveMove, resident: Residency): Promise<boolean> {
    if (resident.running.size === 0) return !move.calledOff.signal.aborted;
    const { clock, settings } = this.#world;
    let overdue: Timer | null = null;
    const interruptAll = (): void => {
      const aborted = resident.running.size;
      this.#world.emit({ type: "drain.overdue", model: resident.instance.model, device: this.spec.id, aborted });
      for (const job of [...resident.running.values()]) this.#jobs.interrupt(job);
    };
    if (move.force) for (const job of [...resident.running.values()]) this.#jobs.interrupt(job);
    else overdue = clock.at(clock.nowMs() + settings.drainMs, interruptAll);
    const emptied = await new Promise<boolean>((resolve) => {
      this.#emptied = () => resolve(true);
      move.calledOff.signal.addEventListener("abort", () => resolve(false), { once: true });
      if (resident.running.size === 0) resolve(true);
    });
    this.#emptied = null;
    overdue?.cancel();
    return emptied;
  }

  async #load(move: ActiveMove, entry: ModelEntry): Promise<void> {
    const { clock, ids, emit } = this.#world;
    this.#enter(move, "loading");
    const model = entry.spec.name;
    const epoch = ++this.#loadEpoch;
    const placement = { instance: ids.next("ins"), model, device: this.spec.id, epoch };
    const startedAtMs = clock.nowMs();
    const deadlineMs = entry.learned.everLoaded ? entry.spec.loadTimeoutMs : entry.spec.firstLoadTimeoutMs;
    emit({ type: "load.started", model, device: this.spec.id, instance: placement.instance });
    const troubled = entry.breaker.failuresInRow > 0;
    if (entry.breaker.broken) emit({ type: "breaker", model, state: "half_open", retryAtMs: null });
    const report = (progress: { phase: string; progress: number | null }): void => {
      if (this.move !== move) return;
      move.progress = progress;
      emit({ type: "load.progress", model, device: this.spec.id, ...progress });
    };
    const ended = await startWithin(entry.backend, {
      placement,
      report,
      calledOff: move.calledOff.signal,
      deadlineMs,
      clock,
    });
    const tookMs = clock.nowMs() - startedAtMs;
    if (ended.outcome === "ready") {
      const instance = { ...placement, endpoint: ended.endpoint };
      this.resident = residencyOf(instance, entry.backend, clock.nowMs(), move.forced);
      entry.standing = false;
      this.#blocks = 0;
      entry.breaker.succeeded();
      if (troubled) emit({ type: "breaker", model, state: "closed", retryAtMs: null });
      entry.learned.loaded(tookMs, ended.tier);
      this.#noteWaited();
      this.restore = null;
    } else {
      if (move.evict !== null) this.restore = move.evict;
      if (ended.outcome !== "abandoned") {
        entry.breaker.failed(clock.nowMs(), ended.detail ?? "it did not load");
        emit({ type: "breaker", model, state: "open", retryAtMs: entry.breaker.retryAtMs });
        this.#jobs.loadFailed(entry);
      }
    }
    this.#world.store.append([
      {
        type: "load",
        load: {
          instance: placement.instance,
          model,
          device: this.spec.id,
          decision: move.decision,
          startedAtMs,
          endedAtMs: clock.nowMs(),
          outcome: ended.outcome,
          tier: ended.outcome === "ready" ? ended.tier : null,
          detail: ended.detail,
        },
      },
    ]);
    const { outcome, detail } = ended;
    emit({ type: "load.finished", model, device: this.spec.id, instance: placement.instance, outcome, tookMs, detail });
  }

  #noteWaited(): void {
    const nowMs = this.#world.clock.nowMs();
    this.waitedAtLoad = new Map(
      [...this.#world.models].map(([name, { queue }]) => [name, perBand((band) => queue.waitedMs(band, nowMs))]),
    );
  }

  #enter(move: ActiveMove, phase: ActiveMove["phase"]): void {
    move.phase = phase;
    move.phaseSinceMs = this.#world.clock.nowMs();
    this.notePhase();
    this.#world.wake("change");
  }
}

function residencyOf(instance: Instance, backend: Backend, sinceMs: number, forced: boolean): Residency {
  return {
    instance,
    backend,
    sinceMs,
    idleSinceMs: null,
    dispatched: 0,
    forced,
    running: new Map(),
    progressAtMs: sinceMs,
    work: new WorkMeter(sinceMs),
  };
}
