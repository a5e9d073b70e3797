// The live rule run forward over the counters: nothing new arrives, learned times are right, queues are fluids. What a
// job's estimate is made from. Pure, O(models) a step, and never a look at a single job.

import { BANDS } from "../domain/band.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import { decide } from "./decide.ts";
import type { BoundPolicy } from "./policy.ts";
import type { Budget, Resident, Snapshot } from "./snapshot.ts";
import { rate, type Stretch, type Tank, tankOf, viewAt } from "./tank.ts";

/** Beyond this nothing is foreseen. */
const HORIZON_MS = 7 * 86_400_000;
const STEPS_MAX = 600;
/** A step is at most this share of what has been foreseen already: near ones are fine, far ones coarse. */
const STEP_GROWTH = 0.1;
const STEP_MIN_MS = 250;
interface Tenancy {
  readonly model: ModelName;
  sinceMs: number;
  idleSinceMs: number | null;
  dispatched: number;
  /** When the last of what runs has ended. */
  busyUntilMs: number;
  readonly forced: boolean;
}

interface Slot {
  readonly snapshot: Snapshot;
  budget: Budget | null;
  tenants: Tenancy[];
  coming: { readonly model: ModelName | null; readonly readyAtMs: number; readonly forced: boolean } | null;
  nextLookAtMs: number | null;
  serving: ReadonlySet<ModelName>;
  /** The first load, under way or foreseen. */
  next: Arrival | null;
}

/** A model that comes to a device, and when it can serve. */
export interface Arrival {
  readonly model: ModelName;
  readonly readyAtMs: number;
}

/** One run forward, in as many parts as its caller likes: a long one must not hold up a router. */
export class Projection {
  /** Of the snapshots. */
  readonly atMs: number;
  readonly #policy: BoundPolicy;
  readonly #tanks = new Map<ModelName, Tank>();
  readonly #slots: readonly Slot[];
  #nowMs: number;
  #steps = 0;
  #done = false;

  /** @param snapshots One for each device, of one instant. */
  constructor(snapshots: readonly Snapshot[], policy: BoundPolicy) {
    this.atMs = snapshots[0]?.nowMs ?? 0;
    this.#nowMs = this.atMs;
    this.#policy = policy;
    for (const { models } of snapshots) {
      for (const view of models) if (!this.#tanks.has(view.model)) this.#tanks.set(view.model, tankOf(view));
    }
    this.#slots = snapshots.map((snapshot) => slotOf(snapshot, this.#tanks));
  }

  /** Nothing more is to be foreseen. */
  get done(): boolean {
    return this.#done;
  }

  /** Steps so far, each counted once for every model: what it has cost. */
  get cost(): number {
    return this.#steps * this.#tanks.size;
  }

  /** A model's starts in order of time, as far as they are foreseen by now. */
  stretches(model: ModelName): readonly Stretch[] {
    return this.#tanks.get(model)?.stretches ?? [];
  }

  /** What is loaded next on a device, or is on its way; null: nothing, as far as is foreseen by now. */
  nextOf(device: DeviceId): Arrival | null {
    return this.#slots.find(({ snapshot }) => snapshot.device.device === device)?.next ?? null;
  }

  /** Goes on until it is done or has cost so much more. */
  advance(cost = Number.POSITIVE_INFINITY): void {
    const limit = this.cost + cost;
    while (!this.#done && this.cost < limit) this.#done = !this.#step();
  }

  /** False: it has come to its end. */
  #step(): boolean {
    const [slots, tanks] = [this.#slots, this.#tanks];
    if (this.#steps++ >= STEPS_MAX || this.#nowMs >= this.atMs + HORIZON_MS) return false;
    for (const slot of slots) arrive(slot, this.#nowMs);
    for (const slot of slots) look(slot, slots, tanks, this.#policy, this.#nowMs);
    if (![...tanks.values()].some(({ queued }) => queued > 0)) return false;
    const stepMs = Math.max(STEP_MIN_MS, (this.#nowMs - this.atMs) * STEP_GROWTH);
    const untilMs = nextEvent(slots, tanks, this.#nowMs, this.#nowMs + stepMs);
    if (untilMs === null) return false;
    for (const slot of slots) serve(slot, tanks, this.#nowMs, untilMs);
    this.#nowMs = untilMs;
    return true;
  }
}

/** When the job that has `ahead` others before it starts; null: not foreseen. */
export function startAtMs(stretches: readonly Stretch[], ahead: number): number | null {
  let before = 0;
  for (const { fromMs, toMs, jobs } of stretches) {
    if (ahead < before + jobs - 1e-9) return fromMs + ((toMs - fromMs) * Math.max(0, ahead - before)) / jobs;
    before += jobs;
  }
  return null;
}

function slotOf(snapshot: Snapshot, tanks: ReadonlyMap<ModelName, Tank>): Slot {
  const { device, nowMs } = snapshot;
  const tenants = device.residents.map((resident) => {
    const tank = tanks.get(resident.model);
    const busy = tank !== undefined && tank.view.inFlight > 0;
    return { ...resident, busyUntilMs: busy ? nowMs + tank.runMs / 2 : nowMs };
  });
  const { transition } = device;
  const idle = { coming: null, nextLookAtMs: null, serving: new Set<ModelName>(), next: null };
  const slot: Slot = { snapshot, budget: device.budget, tenants, ...idle };
  if (transition === null) return slot;
  const leaving = tenants.filter(({ model }) => transition.evict.includes(model));
  const out = transition.phase === "loading" ? 0 : outMs(leaving, tanks, nowMs);
  const load = transition.load === null ? 0 : (tanks.get(transition.load)?.view.loadMs ?? 0);
  const sinceMs = transition.phase === "loading" ? transition.sinceMs : nowMs;
  slot.tenants = tenants.filter(({ model }) => !transition.evict.includes(model));
  const readyAtMs = Math.max(nowMs, sinceMs + out + load);
  slot.coming = { model: transition.load, readyAtMs, forced: false };
  if (transition.load !== null) slot.next = { model: transition.load, readyAtMs };
  return slot;
}

/** How long they take to finish what runs, and to stop. */
function outMs(leaving: readonly Tenancy[], tanks: ReadonlyMap<ModelName, Tank>, nowMs: number): number {
  const each = leaving.map(({ model, busyUntilMs }) => {
    return Math.max(0, busyUntilMs - nowMs) + (tanks.get(model)?.view.unloadMs ?? 0);
  });
  return Math.max(0, ...each);
}

/** A load that is due ends; its first jobs start at once. */
function arrive(slot: Slot, nowMs: number): void {
  if (slot.coming === null || slot.coming.readyAtMs > nowMs) return;
  const { model, forced } = slot.coming;
  slot.coming = null;
  if (model !== null)
    slot.tenants.push({ model, sinceMs: nowMs, idleSinceMs: nowMs, dispatched: 0, busyUntilMs: nowMs, forced });
}

/** Decides for one device and does what was decided. */
function look(
  slot: Slot,
  slots: readonly Slot[],
  tanks: ReadonlyMap<ModelName, Tank>,
  policy: BoundPolicy,
  nowMs: number,
): void {
  if (slot.coming !== null) return;
  const decided = decide(snapshotAt(slot, slots, tanks, nowMs), policy);
  slot.nextLookAtMs = decided.nextLookAtMs;
  slot.serving = new Set();
  if (decided.kind === "swap" || decided.kind === "load" || decided.kind === "preload" || decided.kind === "unload") {
    const loadMs = decided.load === null ? 0 : (tanks.get(decided.load)?.view.loadMs ?? 0);
    const leaving = slot.tenants.filter(({ model }) => decided.evict.includes(model));
    const readyAtMs = nowMs + outMs(leaving, tanks, nowMs) + loadMs;
    slot.tenants = slot.tenants.filter(({ model }) => !decided.evict.includes(model));
    for (const model of decided.evict) left(tanks.get(model), nowMs);
    if (decided.spend) slot.budget = { leftMs: decided.spend.afterMs, atMs: nowMs };
    slot.coming = { model: decided.load, readyAtMs, forced: decided.guard === "ceiling" };
    if (decided.load !== null) slot.next ??= { model: decided.load, readyAtMs };
    return;
  }
  if (decided.serve > 0 || decided.reason === "finish") slot.serving = new Set(slot.tenants.map(({ model }) => model));
  for (const tenant of slot.tenants) {
    if (slot.serving.has(tenant.model) && tenant.dispatched === 0) first(tenant, tanks, nowMs);
  }
}

/** From now on it waits for its next visit, if it has work. */
function left(tank: Tank | undefined, nowMs: number): void {
  if (tank !== undefined) tank.unvisitedSinceMs = tank.queued > 0 ? nowMs : null;
}

/** A fresh model fills its slots at one stroke. */
function first(tenant: Tenancy, tanks: ReadonlyMap<ModelName, Tank>, nowMs: number): void {
  const tank = tanks.get(tenant.model);
  if (tank === undefined || tank.queued <= 0) return;
  take(tank, tenant, Math.min(tank.queued, tank.view.slots), nowMs, nowMs);
}

/** The next instant at which something starts, ends or can be decided otherwise; null: never. */
function nextEvent(
  slots: readonly Slot[],
  tanks: ReadonlyMap<ModelName, Tank>,
  nowMs: number,
  latestMs: number,
): number | null {
  let nextMs = Number.POSITIVE_INFINITY;
  for (const { coming, nextLookAtMs, serving, tenants } of slots) {
    if (coming !== null) nextMs = Math.min(nextMs, coming.readyAtMs);
    else if (nextLookAtMs !== null) nextMs = Math.min(nextMs, nextLookAtMs);
    for (const { busyUntilMs } of tenants) if (busyUntilMs > nowMs) nextMs = Math.min(nextMs, busyUntilMs);
    for (const model of serving) {
      const tank = tanks.get(model);
      if (tank !== undefined && tank.queued > 0) nextMs = Math.min(nextMs, latestMs, nowMs + tank.queued / rate(tank));
    }
  }
  return Number.isFinite(nextMs) ? Math.max(nextMs, nowMs + 1) : null;
}

function serve(slot: Slot, tanks: ReadonlyMap<ModelName, Tank>, fromMs: number, toMs: number): void {
  for (const tenant of slot.tenants) {
    const tank = tanks.get(tenant.model);
    if (tank === undefined || !slot.serving.has(tenant.model)) continue;
    if (tank.queued > 0) {
      const jobs = Math.min(tank.queued, rate(tank) * (toMs - fromMs));
      take(tank, tenant, tank.queued - jobs < 1e-6 ? tank.queued : jobs, fromMs, toMs);
    }
    if (tank.queued <= 0 && tenant.busyUntilMs <= toMs) tenant.idleSinceMs ??= Math.max(fromMs, tenant.busyUntilMs);
  }
}

/** Bands are served in their order, which is how every policy with bands does it when they came together. */
function take(tank: Tank, tenant: Tenancy, jobs: number, fromMs: number, toMs: number): void {
  tank.stretches.push({ fromMs, toMs, jobs });
  tank.queued = Math.max(0, tank.queued - jobs);
  tenant.dispatched += Math.max(1, Math.round(jobs));
  tenant.idleSinceMs = null;
  tenant.busyUntilMs = toMs + tank.runMs;
  let left = jobs;
  for (const band of BANDS) {
    const taken = Math.min(left, tank.bands[band]);
    tank.bands[band] -= taken;
    left -= taken;
  }
}

function snapshotAt(slot: Slot, slots: readonly Slot[], tanks: ReadonlyMap<ModelName, Tank>, nowMs: number): Snapshot {
  const { snapshot } = slot;
  const elsewhere = new Set(
    slots.flatMap((each) => (each === slot ? [] : [...each.tenants.map(({ model }) => model), each.coming?.model])),
  );
  const models = snapshot.models.flatMap(({ model }) => {
    const tank = tanks.get(model);
    return tank === undefined || elsewhere.has(model) ? [] : [viewAt(tank, busyUntilOf(slot, model), nowMs)];
  });
  const residents: Resident[] = slot.tenants.map(({ busyUntilMs: _, ...resident }) => resident);
  const { budget } = slot;
  return { ...snapshot, nowMs, device: { ...snapshot.device, residents, transition: null, budget }, models };
}

function busyUntilOf({ tenants }: Slot, model: ModelName): number | null {
  return tenants.find((tenant) => tenant.model === model)?.busyUntilMs ?? null;
}
