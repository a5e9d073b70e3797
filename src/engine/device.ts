// One device: what is loaded on it and which moves are under way. At most one of them loads; any loaded model may leave
// meanwhile, and those that stay go on serving. moves.ts carries the moves out; nothing here decides.

import type { Instance } from "../backends/backend.ts";
import type { DevicePhase } from "../domain/event.ts";
import type { ModelName } from "../domain/ids.ts";
import type { DeviceSpec } from "../domain/model.ts";
import type { Budget } from "../scheduler/snapshot.ts";
import { BusyMeter, type PerBand, perBand } from "./meters.ts";
import { type ActiveMove, type DeviceJobs, exitOf, type Move } from "./move.ts";
import { carryOut } from "./moves.ts";
import { DeviceSpans } from "./spans.ts";
import { type EngineWorld, type ModelEntry, type Residency, residencyOf } from "./state.ts";

const BLOCKED_FIRST_MS = 5_000;
const BLOCKED_MAX_MS = 60_000;

export class DeviceUnit {
  readonly spec: DeviceSpec;
  /** In the order in which they were loaded. A model that is loaded across several devices stands on each. */
  readonly residents: Residency[] = [];
  readonly moves: ActiveMove[] = [];
  paused = false;
  blockedUntilMs = 0;
  /** Why it was blocked last. */
  blockedBecause = "";
  /** What was evicted for a load that failed; put back when nothing better is to do. */
  restore: readonly ModelName[] = [];
  phaseSinceMs: number;
  /** Written by the loop; null: nothing was spent yet. */
  budget: Budget | null = null;
  readonly busy: BusyMeter;
  readonly spans: DeviceSpans;
  /** What each model's queued jobs had waited, in job-ms, when the last load ended. */
  waitedAtLoad: ReadonlyMap<ModelName, PerBand> = new Map();
  /** Raised by each load. */
  loadEpoch = 0;
  readonly #world: EngineWorld;
  readonly #jobs: DeviceJobs;
  /** All devices, this one among them: a model may be loaded across several. */
  readonly #fleet: readonly DeviceUnit[];
  /** In a row. */
  #blocks = 0;
  #phase: DevicePhase = "empty";

  constructor(spec: DeviceSpec, world: EngineWorld, jobs: DeviceJobs, fleet: readonly DeviceUnit[]) {
    this.spec = spec;
    this.#world = world;
    this.#jobs = jobs;
    this.#fleet = fleet;
    this.phaseSinceMs = world.clock.nowMs();
    this.busy = new BusyMeter(this.phaseSinceMs);
    this.spans = new DeviceSpans({
      clock: world.clock,
      device: spec.id,
      append: (entry) => world.store.append([entry]),
      changed: (change) => world.changed(change),
    });
  }

  get phase(): DevicePhase {
    return this.#phase;
  }

  /** The move that loads, else one that takes something out; null: none is under way. */
  get move(): ActiveMove | null {
    return this.moves.find(({ load }) => load !== null) ?? this.moves[0] ?? null;
  }

  /** Where the model is loaded here, also while it leaves; null: it is not. */
  find(model: ModelName): Residency | null {
    return this.residents.find(({ instance }) => instance.model === model) ?? null;
  }

  /** Takes over what an earlier router left running; the caller has made sure that there is room. */
  adopt(instance: Instance, entry: ModelEntry): void {
    const units = this.#unitsOf(entry);
    const at = { ...instance, device: this.spec.id };
    const residency = residencyOf(at, entry.backend, ids(units), this.#world.clock.nowMs(), false);
    entry.standing = false;
    for (const unit of units) {
      unit.loadEpoch = Math.max(unit.loadEpoch, instance.epoch);
      unit.residents.push(residency);
    }
    const { model } = instance;
    this.#world.emit({ type: "instance.adopted", model, device: this.spec.id, instance: instance.instance });
    for (const unit of units) unit.notePhase();
  }

  /**
   * Starts a move on every device that it takes part of. The caller has made sure that none of them loads already, and
   * that nothing of `evict` is leaving.
   */
  begin(move: Move): void {
    const { clock, models, fatal } = this.#world;
    const nowMs = clock.nowMs();
    const target = move.load === null ? undefined : models.get(move.load);
    const home = target === undefined ? [this] : this.#unitsOf(target);
    const here = new Set(home.flatMap(({ residents }) => residents));
    const leaving = [...here].filter(({ instance }) => move.evict.includes(instance.model));
    const active: ActiveMove = {
      ...move,
      phase: leaving.length === 0 ? "loading" : "draining",
      leaving,
      decider: this.spec.id,
      sinceMs: nowMs,
      phaseSinceMs: nowMs,
      calledOff: new AbortController(),
      progress: null,
    };
    for (const each of leaving) each.leaving = true;
    const taken = leaving.flatMap(({ devices }) => devices);
    const units = this.#fleet.filter((unit) => home.includes(unit) || taken.includes(unit.spec.id));
    for (const unit of units) unit.moves.push(active);
    for (const unit of units) unit.notePhase();
    carryOut(active, { world: this.#world, jobs: this.#jobs, units, home }).catch((error: unknown) => fatal(error));
  }

  /** Calls off the load that is under way, or the drain before it; an unload goes on to its end, and no load follows. */
  callOff(): void {
    this.move?.calledOff.abort();
  }

  /** The engine behind a loaded model is gone: clears up, whatever else the device does. */
  lost(residency: Residency, detail: string): void {
    if (!this.residents.includes(residency) || residency.leaving) return;
    const { model } = residency.instance;
    this.#world.emit({ type: "instance.lost", model, device: this.spec.id, detail });
    const entry = this.#world.models.get(model);
    if (entry?.pinned === true) entry.standing = true;
    this.begin(exitOf(model, true));
  }

  /** Called whenever a slot of a loaded model becomes free. */
  slotFreed(residency: Residency): void {
    if (residency.running.size === 0) residency.emptied?.();
    for (const unit of this.#fleet) if (residency.devices.includes(unit.spec.id)) unit.notePhase();
  }

  /** Nothing is started here for a while, each time longer. */
  block(detail: string): void {
    const waitMs = Math.min(BLOCKED_MAX_MS, BLOCKED_FIRST_MS * 2 ** this.#blocks++);
    this.blockedUntilMs = this.#world.clock.nowMs() + waitMs;
    this.blockedBecause = detail;
    this.#world.emit({ type: "device.blocked", device: this.spec.id, detail, untilMs: this.blockedUntilMs });
  }

  /** A load has worked. */
  loaded(residency: Residency): void {
    const nowMs = this.#world.clock.nowMs();
    const { model } = residency.instance;
    this.residents.push(residency);
    this.#blocks = 0;
    this.restore = this.restore.includes(model) ? this.restore.filter((each) => each !== model) : [];
    this.waitedAtLoad = new Map(
      [...this.#world.models].map(([name, { queue }]) => [name, perBand((band) => queue.waitedMs(band, nowMs))]),
    );
  }

  /** Tells listeners when what the device does has changed. */
  notePhase(): void {
    this.spans.look(this.residents, this.moves);
    const phase = this.#currentPhase();
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.phaseSinceMs = this.#world.clock.nowMs();
    this.#world.emit({ type: "device.phase", device: this.spec.id, phase, atMs: this.phaseSinceMs });
  }

  /** A move is shown before the service that goes on beside it. */
  #currentPhase(): DevicePhase {
    if (this.move !== null) return this.move.phase;
    if (this.blockedUntilMs > this.#world.clock.nowMs()) return "blocked";
    if (this.residents.length === 0) return "empty";
    return this.residents.some(({ running }) => running.size > 0) ? "serving" : "idle";
  }

  /** The devices that a load of this model here takes part of. */
  #unitsOf({ spec }: ModelEntry): DeviceUnit[] {
    return spec.across ? this.#fleet.filter((unit) => spec.devices.includes(unit.spec.id)) : [this];
  }
}

/** What is loaded on any of them; what stands on several once. */
export function allResidents(devices: readonly DeviceUnit[]): Residency[] {
  return [...new Set(devices.flatMap(({ residents }) => residents))];
}

function ids(units: readonly DeviceUnit[]): DeviceSpec["id"][] {
  return units.map(({ spec }) => spec.id);
}
