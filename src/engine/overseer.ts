// Puts together what operators read: hears every event, and answers from memory. O(models) an answer.

import { hasMoved } from "../domain/estimate.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import type { DeviceUnit } from "./device.ts";
import type { Estimates } from "./estimates.ts";
import { LastHour } from "./last-hour.ts";
import { LoadBook } from "./load-book.ts";
import { loadBoundMs, workingModels } from "./load-bound.ts";
import type { ActiveMove } from "./move.ts";
import type { Page } from "./notebook.ts";
import type { DeviceOverview, Expected, ModelOverview, MoveOverview, Overview } from "./overview.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry } from "./state.ts";
import { Steady } from "./steady.ts";

const P50 = 0.5;
const P95 = 0.95;

interface Parts {
  readonly world: EngineWorld;
  readonly devices: readonly DeviceUnit[];
  readonly estimates: Estimates;
}

type Coming = NonNullable<ReturnType<Estimates["nextOf"]>>;

export class Overseer {
  readonly loads = new LoadBook();
  readonly #parts: () => Parts;
  readonly #hour: LastHour;
  readonly #nowMs: () => number;
  readonly #firsts = new Steady();
  readonly #nexts = new Steady();
  /** Bounds as they were told last. */
  readonly #told = new Map<ModelName, number>();

  constructor(nowMs: () => number, parts: () => Parts) {
    this.#nowMs = nowMs;
    this.#parts = parts;
    this.#hour = new LastHour(nowMs());
  }

  get page(): Page {
    return this.#hour.page;
  }

  hear(event: RouterEvent): void {
    const atMs = this.#nowMs();
    this.#hour.hear(event, atMs);
    if (event.type === "load.finished") this.loads.ended(event.model, { ...event, atMs });
  }

  view(): Overview {
    const { world, devices, estimates } = this.#parts();
    const nowMs = this.#nowMs();
    const bounds = this.#bounds(world, devices);
    const models = new Map([...world.models].map(([name, entry]) => [name, this.#model(entry, bounds, estimates)]));
    return {
      startedAtMs: this.#hour.startedAtMs,
      lastHour: { ...this.#hour.ended(nowMs), estimateError: this.#hour.estimateError(nowMs) },
      models,
      devices: new Map(devices.map((unit) => [unit.spec.id, this.#device(unit, bounds)])),
    };
  }

  /** When each model that waits and may be loaded is loaded at the latest. */
  #bounds(world: EngineWorld, devices: readonly DeviceUnit[]): Map<ModelName, number> {
    const working = workingModels(devices, world);
    const bounds = new Map<ModelName, number>();
    for (const entry of world.models.values()) {
      const { name } = entry.spec;
      const homes = devices.filter(({ spec }) => entry.spec.devices.includes(spec.id));
      const paused = world.pauses.over(entry.spec) !== null || homes.every((unit) => unit.paused);
      const barred = entry.paused || paused || entry.remote !== null;
      const comes = homes.some(({ move }) => move?.load === name);
      if (barred || comes || homes.some((unit) => unit.find(name) !== null)) continue;
      const boundMs = loadBoundMs(entry, devices, world, working);
      if (boundMs !== null) bounds.set(name, this.#steadyBound(name, this.#nowMs() + boundMs));
    }
    return bounds;
  }

  /** A promise does not flicker: it stays what it was until it has moved by a tenth. */
  #steadyBound(name: ModelName, atMs: number): number {
    const nowMs = this.#nowMs();
    const told = this.#told.get(name);
    if (told !== undefined && told > nowMs && !hasMoved(told, atMs, nowMs)) return told;
    this.#told.set(name, atMs);
    return atMs;
  }

  #model(entry: ModelEntry, bounds: ReadonlyMap<ModelName, number>, estimates: Estimates): ModelOverview {
    const nowMs = this.#nowMs();
    const { name } = entry.spec;
    const barred = entry.paused || entry.breaker.broken;
    const ahead = entry.queue.depth === 0 || barred ? null : estimates.ofQueue(entry);
    const first = this.#expected(this.#firsts.of(name, ahead?.first ?? null, nowMs), bounds.get(name));
    return {
      loads: this.loads.of(name),
      waitP50Ms: this.#hour.waitMs(name, P50, nowMs),
      waitP95Ms: this.#hour.waitMs(name, P95, nowMs),
      first: entry.queue.size === 0 ? null : first,
      lastAtMs: ahead?.lastMs == null ? null : nowMs + ahead.lastMs,
    };
  }

  #device(unit: DeviceUnit, bounds: ReadonlyMap<ModelName, number>): DeviceOverview {
    const { world, estimates } = this.#parts();
    const nowMs = this.#nowMs();
    const { id } = unit.spec;
    const { share, swaps } = this.#hour.swapping(id, nowMs);
    const next = unit.paused ? null : estimates.nextOf(id);
    const here = next !== null && unit.find(next.model)?.leaving === false;
    const comes = next === null || here || saysNoMore(unit, next) ? null : next;
    const tenants = unit.residents.map(({ instance: { model }, running, leaving }) => {
      return {
        model,
        running: running.size,
        slots: world.models.get(model)?.spec.concurrency ?? running.size,
        leaving,
      };
    });
    return {
      tenants,
      move: unit.move === null ? null : moveOf(unit.move, world, nowMs),
      blocked: unit.blockedUntilMs > nowMs ? { untilMs: unit.blockedUntilMs, detail: unit.blockedBecause } : null,
      swapShare: share,
      swaps,
      next: comes === null ? null : { model: comes.model, ...this.#nextAt(id, comes, bounds) },
    };
  }

  #nextAt(device: DeviceId, next: Coming, bounds: ReadonlyMap<ModelName, number>): Expected {
    const key = `${device} ${next.model}`;
    return this.#expected(this.#nexts.of(key, next.inMs, this.#nowMs()), bounds.get(next.model));
  }

  #expected(shown: ReturnType<Steady["of"]>, boundAtMs: number | undefined): Expected {
    const { lowAtMs = null, midAtMs = null, highAtMs = null } = shown ?? {};
    return { lowAtMs, midAtMs, highAtMs, boundAtMs: boundAtMs ?? null };
  }
}

/** It is on its way already, and when it will be there is not known. */
function saysNoMore({ move }: DeviceUnit, { model, inMs }: Coming): boolean {
  return move?.load === model && inMs === null;
}

function moveOf(move: ActiveMove, { models }: EngineWorld, nowMs: number): MoveOverview {
  const { phase, load, evict, phaseSinceMs, decision, progress, leaving } = move;
  const coming = load === null ? undefined : models.get(load);
  const jobs = leaving.flatMap(({ running }) => [...running.values()]);
  const sinceMs = jobs.map(({ runningSinceMs }) => runningSinceMs ?? nowMs);
  return {
    ...{ phase, load, evict, phaseSinceMs, decision },
    progress: progress?.progress ?? null,
    loadMs: coming === undefined ? null : expectedLoadMs(coming),
    running: jobs.length,
    oldestRunMs: jobs.length === 0 ? null : nowMs - Math.min(...sinceMs),
  };
}
