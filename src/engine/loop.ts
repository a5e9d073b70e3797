// The loop, whole: a reason to look, one snapshot a device, one decision, one recorded line, one act.
//
// Nothing here reacts inside a callback: events set a flag and the pass runs once everything that is ready has happened.
// A pass never waits for the disk.

import type { Timer } from "../domain/clock.ts";
import type { Decision, Verdict } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import { decide } from "../scheduler/decide.ts";
import { holdRule } from "../scheduler/explain.ts";
import { reorderCause } from "../scheduler/reorder.ts";
import type { Snapshot } from "../scheduler/snapshot.ts";
import type { Decided } from "../scheduler/verdict.ts";
import { DecisionBook } from "./decision-book.ts";
import { allResidents, type DeviceUnit } from "./device.ts";
import type { Dispatcher } from "./dispatch.ts";
import { sampleMeters } from "./sample.ts";
import { ShadowWatch } from "./shadow.ts";
import type { EngineWorld, ModelEntry, Residency, WakeReason } from "./state.ts";
import { snapshotOf } from "./views.ts";
import { type DeviceHold, recordWaits } from "./waits.ts";

/** A resident without work is called idle after this; shorter pauses between requests are no news. */
const IDLE_AFTER_MS = 5_000;
/** A policy that serves one job at a time is asked again after each; no pass asks more often than this. */
const ROUNDS_MAX = 10_000;

/** Loads that no queued job asked for: they are not abandoned for want of one. */
const UNASKED: ReadonlySet<Verdict["reason"]> = new Set(["operator", "restore", "pinned", "keep_ready", "preload"]);

const NOBODY: ReadonlyMap<ModelName, readonly ModelName[]> = new Map();

export class Loop {
  readonly #world: EngineWorld;
  readonly #devices: readonly DeviceUnit[];
  readonly #dispatcher: Dispatcher;
  readonly #verdicts = new Map<DeviceUnit, Decided>();
  readonly #shadow: ShadowWatch;
  readonly book: DecisionBook;
  #scheduled = false;
  #timer: Timer | null = null;
  #stopped = false;
  /** Since when this router is there and has not yet recovered, so that nothing is started or moved; null: it has. */
  startingSinceMs: number | null = null;
  /** Running work may finish; nothing is started. */
  closing = false;
  lastPassAtMs: number;
  #eventAtMs: number;
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(world: EngineWorld, devices: readonly DeviceUnit[], dispatcher: Dispatcher) {
    this.#world = world;
    this.#devices = devices;
    this.#dispatcher = dispatcher;
    this.#shadow = new ShadowWatch(world);
    this.book = new DecisionBook(world);
    this.lastPassAtMs = world.clock.nowMs();
    this.#eventAtMs = this.lastPassAtMs;
  }

  /** Of the whole router. */
  get paused(): boolean {
    return this.startingSinceMs !== null || this.#world.pauses.router !== null;
  }

  verdictOf(device: DeviceUnit): Verdict | null {
    return this.#verdicts.get(device) ?? null;
  }

  wake(reason: WakeReason): void {
    if (reason !== "time") this.#eventAtMs = this.#world.clock.nowMs();
    const ticking = this.#world.settings.passes.mode === "ticks";
    if (ticking && (reason === "completion" || reason === "change")) return;
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    this.#dueAtMs = Math.min(this.#dueAtMs, this.#world.clock.nowMs());
    this.#world.clock.soon(() => {
      this.#scheduled = false;
      if (this.#stopped) return;
      try {
        this.#pass();
      } catch (error) {
        this.stop();
        this.#world.fatal(error);
      }
    });
  }

  /** How long ago the next look was due; 0 when it is not. */
  overdueMs(): number {
    return Math.max(0, this.#world.clock.nowMs() - this.#dueAtMs);
  }

  /** From now on it decides. What came back has waited for that since the start. */
  recovered(): void {
    recordWaits(this.#world, this.startingSinceMs, this.#holds());
    this.startingSinceMs = null;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.book.flush();
  }

  #pass(): void {
    const { clock, models, settings } = this.#world;
    this.lastPassAtMs = clock.nowMs();
    let nextLookAtMs = Number.POSITIVE_INFINITY;
    this.#world.foresight.passed();
    sampleMeters(this.#world, this.#devices);
    // Of all before the first look: what is loaded across several looks at its partners too.
    for (const device of this.#devices) device.paused = this.isHeld(device);
    for (const device of this.#devices) {
      this.#sampleIdle(device);
      const nextMs = this.#look(device);
      if (nextMs !== null) nextLookAtMs = Math.min(nextLookAtMs, nextMs);
    }
    if (!this.paused && !this.closing) for (const entry of models.values()) this.#serveRemote(entry);
    for (const entry of models.values()) {
      if (entry.queue.size > 0 && entry.holdOffUntilMs > clock.nowMs()) {
        nextLookAtMs = Math.min(nextLookAtMs, entry.holdOffUntilMs);
      }
    }
    this.#world.minutes.sample(models.values());
    const idleSinceMs = this.startingSinceMs ?? (this.closing ? clock.nowMs() : null);
    recordWaits(this.#world, idleSinceMs, this.#holds());
    for (const [name, entry] of models) if (entry.removed && !this.#inUse(entry)) models.delete(name);
    if (settings.passes.mode === "ticks") nextLookAtMs = clock.nowMs() + settings.passes.everyMs;
    this.#dueAtMs = nextLookAtMs;
    this.#timer?.cancel();
    this.#timer = Number.isFinite(nextLookAtMs) ? clock.at(nextLookAtMs, () => this.wake("time")) : null;
  }

  /** Nothing is started or moved there. */
  isHeld({ spec }: DeviceUnit): boolean {
    return this.paused || this.closing || this.#world.pauses.device(spec.id) !== null;
  }

  /** Decides, records, acts and dispatches for one device; the next instant to look at it again. */
  #look(device: DeviceUnit): number | null {
    for (let round = 0; ; round++) {
      const snapshot = snapshotOf(device, this.#devices, this.#world, this.#eventAtMs);
      const decided = decide(snapshot, this.#world.settings.policy);
      this.#verdicts.set(device, decided);
      const quietUntilMs = pauseEndsAtMs(device, decided);
      const quiet = quietUntilMs !== null && quietUntilMs > snapshot.nowMs;
      const decision = quiet ? this.book.inForce(device) : this.book.decided(device, decided);
      if (round === 0) this.#shadow.look(snapshot, decided, decision?.id ?? null);
      if (this.#act(device, decided, decision)) return null;
      const served = this.#serve(device, snapshot, decided, decision);
      if (served > 0) this.#eventAtMs = this.#world.clock.nowMs();
      // A start is an event: what is to be looked at next depends on it. The founding rule looks again at its tick only.
      const again = Number.isFinite(decided.serve) || this.#world.settings.passes.mode === "events";
      if (served > 0 && again && round < ROUNDS_MAX) continue;
      return quiet ? Math.min(quietUntilMs, decided.nextLookAtMs ?? quietUntilMs) : decided.nextLookAtMs;
    }
  }

  /** True: a move began or was called off, so there is nothing to serve. */
  #act(device: DeviceUnit, decided: Decided, decision: Decision | null): boolean {
    const { kind, reason, load } = decided;
    if (kind === "hold" || kind === "idle") return false;
    if (device.move !== null) {
      if (reason === "yielded" && device.move.load !== null) this.#world.foresight.calledOff(device.move.load);
      device.callOff();
      return true;
    }
    const entry = load === null ? undefined : this.#world.models.get(load);
    const askedBy = decision?.askedBy;
    if (entry !== undefined) entry.wantedBy = null;
    const { spend = null } = decided;
    if (spend !== null) device.budget = { leftMs: spend.afterMs, atMs: this.#world.clock.nowMs() };
    if (decided.preload !== undefined) this.#world.foresight.began(device.spec.id, decided.preload);
    device.begin({
      load,
      evict: decided.evict,
      force: false,
      onDemand: (kind === "swap" || kind === "load") && !UNASKED.has(reason),
      ahead: reason === "preload",
      forced: reason === "ceiling",
      swap: kind === "swap",
      decision: decision?.id ?? null,
      ...(askedBy === undefined ? {} : { askedBy }),
    });
    return true;
  }

  /** Starts what may be started on each model that is loaded here; how many jobs that was. */
  #serve(device: DeviceUnit, snapshot: Snapshot, decided: Decided, decision: Decision | null): number {
    if (decided.serve <= 0 || device.paused) return 0;
    let started = 0;
    for (const model of decided.serves) {
      const entry = this.#world.models.get(model);
      const residency = device.find(model);
      if (residency === null || residency.leaving || entry === undefined || entry.paused) continue;
      if (residency.devices.some((id) => this.#world.pauses.device(id) !== null)) continue;
      const scored = decided.models.find((each) => each.model === model);
      const limit = Math.min(decided.serve, this.#shareOf(entry, residency));
      started += this.#dispatcher.dispatch(entry, residency, device, limit, {
        first: decided.first ?? null,
        decision: decision?.id ?? null,
        score: scored?.score ?? null,
        reorder: (live) => reorderCause(snapshot, model, live, this.#world.settings.policy),
      });
    }
    return started;
  }

  /** How many jobs may start here so that the copies of a model have about as many each. */
  #shareOf({ queue, spec }: ModelEntry, residency: Residency): number {
    const copies = allResidents(this.#devices.filter(({ paused }) => !paused)).filter(
      ({ instance, leaving }) => instance.model === spec.name && !leaving,
    );
    if (copies.length < 2) return Number.POSITIVE_INFINITY;
    const running = copies.reduce((sum, each) => sum + each.running.size, 0);
    return Math.max(0, Math.ceil((running + queue.size) / copies.length) - residency.running.size);
  }

  #serveRemote(entry: ModelEntry): void {
    if (entry.remote === null || entry.paused) return;
    this.#dispatcher.dispatch(entry, entry.remote, null, Number.POSITIVE_INFINITY, {
      first: null,
      decision: null,
      score: null,
      reorder: (live) => (entry.queue.oldest()?.id === live.id ? null : "priority"),
    });
  }

  #sampleIdle(device: DeviceUnit): void {
    for (const resident of device.residents) {
      const queued = this.#world.models.get(resident.instance.model)?.queue.size ?? 0;
      const busy = queued > 0 || resident.running.size > 0;
      resident.idleSinceMs = busy ? null : (resident.idleSinceMs ?? this.#world.clock.nowMs());
    }
  }

  /** A model that was taken out of the configuration is kept for as long as anything of it is left. */
  #inUse({ spec: { name }, queue, remote }: ModelEntry): boolean {
    if (queue.size > 0 || (remote?.running.size ?? 0) > 0) return true;
    return this.#devices.some((device) => device.find(name) !== null || device.move?.load === name);
  }

  #holds(): DeviceHold[] {
    return this.#devices.map((unit) => {
      const verdict = this.#verdicts.get(unit);
      const rule = verdict === undefined ? "order" : (holdRule(verdict) ?? "order");
      return {
        ...{ unit, rule, decision: this.book.inForce(unit)?.id ?? null, against: verdict?.against ?? NOBODY },
        serves: verdict !== undefined && verdict.serve > 0 ? verdict.serves : [],
      };
    });
  }
}

/** When a pause of the resident becomes worth a row; null when the verdict is about something else. */
function pauseEndsAtMs(device: DeviceUnit, decided: Decided): number | null {
  if (decided.reason !== "no_work" || device.move !== null) return null;
  const idle = device.residents.map(({ idleSinceMs }) => idleSinceMs ?? Number.NEGATIVE_INFINITY);
  return idle.length === 0 || idle.includes(Number.NEGATIVE_INFINITY) ? null : Math.max(...idle) + IDLE_AFTER_MS;
}
