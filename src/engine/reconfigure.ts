// The models as the configuration has them, at start and when it is read again. What is resident stays until the
// scheduler moves it; a model that was taken out gets nothing new.

import type { Backend } from "../backends/backend.ts";
import type { InstanceId, ModelName } from "../domain/ids.ts";
import type { ModelSpec } from "../domain/model.ts";
import { rankOf } from "../domain/ranking.ts";
import { Breaker } from "./breaker.ts";
import type { DeviceUnit } from "./device.ts";
import { Learned } from "./learned.ts";
import type { LiveJob } from "./live-job.ts";
import { ArrivalMeter, CauseMeter } from "./meters.ts";
import type { EngineSettings } from "./settings.ts";
import { type EngineWorld, type ModelEntry, type Residency, residencyOf } from "./state.ts";
import { StartTally } from "./went-first.ts";

/** Makes `world.models` what `settings` says; the queued jobs of models that are gone, for the caller to fail. */
export function reconfigure(
  world: EngineWorld,
  devices: readonly DeviceUnit[],
  settings: EngineSettings,
  backends: ReadonlyMap<ModelName, Backend>,
): LiveJob[] {
  world.settings = settings;
  const wanted = new Set(settings.models.map(({ name }) => name));
  const orphaned: LiveJob[] = [];
  for (const [name, entry] of world.models) {
    if (wanted.has(name)) continue;
    entry.removed = true;
    orphaned.push(...[...world.live.values()].filter((live) => live.model === name && live.abort === null));
    if (entry.wait !== null) {
      world.store.append([{ type: "wait.close", model: name, toMs: world.clock.nowMs() }]);
      entry.wait = null;
    }
    const inUse = devices.some((device) => device.find(name) !== null || device.move?.load === name);
    if (inUse || (entry.remote?.running.size ?? 0) > 0) continue;
    for (const live of orphaned) entry.queue.remove(live);
    world.models.delete(name);
  }
  const before = new Map(world.models);
  world.models.clear();
  for (const [order, spec] of settings.models.entries()) {
    const backend = backends.get(spec.name);
    if (backend === undefined) throw new Error(`No backend was made for model "${spec.name}".`);
    const known = before.get(spec.name);
    const entry =
      known === undefined ? create(world, spec, backend, order) : update(world, known, spec, backend, order);
    world.models.set(spec.name, entry);
  }
  for (const [name, entry] of before) if (!world.models.has(name)) world.models.set(name, entry);
  return orphaned;
}

/** Gives every queued job the rank that another policy or ageing gives it. */
export function rerankBacklog(world: EngineWorld): void {
  for (const live of world.live.values()) {
    const queue = world.models.get(live.model)?.queue;
    const queued = queue?.remove(live) ?? false;
    live.rank = rankOf(world.settings.policy.ranking, live);
    if (queued) queue?.add(live);
  }
}

function create(world: EngineWorld, spec: ModelSpec, backend: Backend, order: number): ModelEntry {
  return {
    spec,
    backend,
    order,
    queue: world.backlog.queue(spec.name),
    breaker: new Breaker(spec.maxLoadFailures),
    learned: new Learned(spec.loadMs, backend.expects?.(spec.name)),
    arrivals: new ArrivalMeter(),
    starts: new StartTally(),
    unvisitedSinceMs: null,
    remote: spec.usesDevice ? null : alwaysOn(world, spec, backend),
    paused: world.pauses.model(spec.name) !== null,
    pinned: spec.pinned,
    pinnedBy: null,
    wantedBy: null,
    standing: spec.pinned || spec.preload,
    holdOffUntilMs: 0,
    troubles: 0,
    leftAtMs: null,
    removed: false,
    wait: null,
    waited: new CauseMeter(),
  };
}

function update(world: EngineWorld, entry: ModelEntry, spec: ModelSpec, backend: Backend, order: number): ModelEntry {
  const changed = entry.backend !== backend;
  if (entry.spec.pinned !== spec.pinned) {
    entry.pinned = spec.pinned;
    entry.pinnedBy = null;
  }
  if (changed || entry.spec.maxLoadFailures !== spec.maxLoadFailures) entry.breaker = new Breaker(spec.maxLoadFailures);
  if (changed && entry.remote !== null) entry.remote = { ...entry.remote, backend };
  if (spec.usesDevice) entry.remote = null;
  else entry.remote ??= alwaysOn(world, spec, backend);
  entry.spec = spec;
  entry.backend = backend;
  entry.order = order;
  entry.removed = false;
  return entry;
}

function alwaysOn(world: EngineWorld, spec: ModelSpec, backend: Backend): Residency {
  const instance: InstanceId = world.ids.next("ins");
  const where = { instance, model: spec.name, device: null, endpoint: "", epoch: 1 };
  return residencyOf(where, backend, [], world.clock.nowMs(), false);
}
