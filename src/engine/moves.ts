// Carries one move out, beside the loop, which it only wakes:
//
//   draining ──empty──► unloading ──stopped──► loading ──ready──► serving
//      │ called off: serving again     │ will not stop: blocked      │ failed, timed out, abandoned: gone
//
// What is evicted drains and stops side by side, and the load begins when all of it is gone. A stop that fails leaves that
// model where it is and blocks its devices for a while: nothing is started on top of it.

import type { Timer } from "../domain/clock.ts";
import { claimGiB } from "./claims.ts";
import type { DeviceUnit } from "./device.ts";
import { startWithin, stopWithin } from "./driver-call.ts";
import { MemoryWatch, memoryShort } from "./memory.ts";
import type { ActiveMove, DeviceJobs } from "./move.ts";
import { type EngineWorld, type ModelEntry, type Residency, residencyOf } from "./state.ts";

const STOP_GRACE_MS = 30_000;

interface Ground {
  readonly world: EngineWorld;
  readonly jobs: DeviceJobs;
  /** Every device that the move takes part of. */
  readonly units: readonly DeviceUnit[];
  /** Those that the model is loaded on; of a move that loads nothing the one that began it. The first is named in events. */
  readonly home: readonly DeviceUnit[];
}

/** Resolves when the move is over, however it ended. */
export async function carryOut(move: ActiveMove, ground: Ground): Promise<void> {
  const { world, units, home } = ground;
  const out = move.leaving.length === 0 || (await allOut(move, ground));
  end(
    move,
    units.filter((unit) => !home.includes(unit)),
  );
  if (out && move.load !== null && !move.calledOff.signal.aborted) {
    const entry = world.models.get(move.load);
    if (entry !== undefined && (await memoryIsBack(move, entry, ground))) await load(move, entry, ground);
  }
  end(move, home);
  world.wake("load");
}

/** These have no more part in it. */
function end(move: ActiveMove, units: readonly DeviceUnit[]): void {
  for (const unit of units) unit.moves.splice(unit.moves.indexOf(move), 1);
  for (const unit of units) unit.notePhase();
}

/** Drains and stops what is evicted; false when any of it stays. */
async function allOut(move: ActiveMove, ground: Ground): Promise<boolean> {
  const drained = await Promise.all(move.leaving.map((each) => drain(move, each, ground)));
  if (drained.includes(false)) {
    for (const each of move.leaving) each.leaving = false;
    return false;
  }
  enter(move, "unloading", ground);
  const stopped = await Promise.all(move.leaving.map((each) => stop(move, each, ground)));
  return !stopped.includes(false);
}

/** Waits until nothing runs on it; false when called off before that. */
async function drain(move: ActiveMove, residency: Residency, { world, jobs }: Ground): Promise<boolean> {
  const { signal } = move.calledOff;
  if (residency.running.size === 0) return !signal.aborted;
  const { clock, settings } = world;
  const { model, device } = residency.instance;
  let overdue: Timer | null = null;
  const interruptAll = (): void => {
    if (device !== null) world.emit({ type: "drain.overdue", model, device, aborted: residency.running.size });
    for (const job of [...residency.running.values()]) jobs.interrupt(job);
  };
  if (move.force) for (const job of [...residency.running.values()]) jobs.interrupt(job);
  else overdue = clock.at(clock.nowMs() + settings.drainMs, interruptAll);
  const emptied = await new Promise<boolean>((resolve) => {
    residency.emptied = () => resolve(true);
    signal.addEventListener("abort", () => resolve(false), { once: true });
    if (residency.running.size === 0) resolve(true);
  });
  residency.emptied = null;
  overdue?.cancel();
  return emptied;
}

async function stop(move: ActiveMove, residency: Residency, { world, units }: Ground): Promise<boolean> {
  const { clock, models, emit } = world;
  const { model, device } = residency.instance;
  const startedAtMs = clock.nowMs();
  const stopped = await stopWithin(residency, STOP_GRACE_MS, clock);
  const where = units.filter(({ spec }) => residency.devices.includes(spec.id));
  if (stopped.memory === "held") {
    residency.leaving = false;
    for (const unit of where) unit.block(`${model} would not stop: ${stopped.detail}`);
    return false;
  }
  for (const unit of where) {
    unit.blockedUntilMs = 0;
    unit.residents.splice(unit.residents.indexOf(residency), 1);
  }
  const tookMs = clock.nowMs() - startedAtMs;
  const entry = models.get(model);
  if (entry !== undefined) {
    entry.leftAtMs = clock.nowMs();
    entry.learned.unloaded(tookMs);
  }
  if (device !== null) {
    emit({ type: "unload.finished", model, device, tookMs, memory: stopped.memory, swap: move.swap });
  }
  return true;
}

/** Blocks the devices when what the model takes does not come free. */
async function memoryIsBack(move: ActiveMove, entry: ModelEntry, { world, home }: Ground): Promise<boolean> {
  const { spec } = entry;
  const { signal } = move.calledOff;
  for (const unit of home) {
    const claim = claimGiB(entry, unit.spec);
    if (claim === null || unit.spec.memoryProbe === null) continue;
    const short = await memoryShort(world, unit.spec.id, claim, signal);
    if (short === null) continue;
    unit.block(`${short}, and ${spec.name} needs ${claim} GiB`);
    return false;
  }
  return !signal.aborted;
}

async function load(move: ActiveMove, entry: ModelEntry, ground: Ground): Promise<void> {
  const { world, home, jobs } = ground;
  const { clock, ids, emit } = world;
  const [lead] = home;
  if (lead === undefined) return;
  enter(move, "loading", ground);
  const model = entry.spec.name;
  const device = lead.spec.id;
  const epoch = Math.max(...home.map((unit) => unit.loadEpoch)) + 1;
  for (const unit of home) unit.loadEpoch = epoch;
  const devices = home.map(({ spec }) => spec.id);
  const placement = { instance: ids.next("ins"), model, device, epoch, ...(devices.length > 1 ? { devices } : {}) };
  const startedAtMs = clock.nowMs();
  const deadlineMs = entry.learned.everLoaded ? entry.spec.loadTimeoutMs : entry.spec.firstLoadTimeoutMs;
  emit({ type: "load.started", model, device, instance: placement.instance });
  const troubled = entry.breaker.failuresInRow > 0;
  if (entry.breaker.broken) emit({ type: "breaker", model, state: "half_open", retryAtMs: null });
  const report = (progress: { phase: string; progress: number | null }): void => {
    if (!lead.moves.includes(move)) return;
    move.progress = progress;
    emit({ type: "load.progress", model, device, ...progress });
  };
  const memory = await MemoryWatch.begin(world, home);
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
    const residency = residencyOf(instance, entry.backend, devices, clock.nowMs(), move.forced);
    entry.standing = false;
    entry.breaker.succeeded();
    if (troubled) emit({ type: "breaker", model, state: "closed", retryAtMs: null });
    entry.learned.loaded(tookMs, ended.tier);
    for (const unit of home) unit.loaded(residency);
    await memory.end(entry);
  } else {
    if (move.evict.length > 0) for (const unit of home) unit.restore = move.evict;
    if (ended.outcome !== "abandoned") {
      for (const unit of home) unit.spans.loadFailed(model);
      entry.breaker.failed(clock.nowMs(), ended.detail ?? "it did not load");
      emit({ type: "breaker", model, state: "open", retryAtMs: entry.breaker.retryAtMs });
      jobs.loadFailed(entry);
    }
  }
  const { outcome, detail } = ended;
  const tier = ended.outcome === "ready" ? ended.tier : null;
  const endedAtMs = clock.nowMs();
  const row = { instance: placement.instance, model, device, decision: move.decision, startedAtMs, endedAtMs };
  world.store.append([{ type: "load", load: { ...row, outcome, tier, detail } }]);
  emit({ type: "load.finished", model, device, instance: placement.instance, outcome, tookMs, detail });
}

function enter(move: ActiveMove, phase: ActiveMove["phase"], { world, units }: Ground): void {
  move.phase = phase;
  move.phaseSinceMs = world.clock.nowMs();
  for (const unit of units) unit.notePhase();
  world.wake("change");
}
