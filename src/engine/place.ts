// Where a queued job stands: facts first, then one estimate that says when it knows nothing. O(models) and O(log n).

import { BANDS, type Band, bandOf } from "../domain/band.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import { rankOf } from "../domain/ranking.ts";
import type { Place, QueueView } from "./control.ts";
import { allResidents, type DeviceUnit } from "./device.ts";
import type { Estimates } from "./estimates.ts";
import { loadBoundMs } from "./load-bound.ts";
import { type EngineWorld, expectedLoadMs, type ModelEntry } from "./state.ts";

export class LocalQueueView implements QueueView {
  readonly #world: EngineWorld;
  readonly #devices: readonly DeviceUnit[];

  readonly #estimates: Estimates;

  constructor(world: EngineWorld, devices: readonly DeviceUnit[], estimates: Estimates) {
    this.#world = world;
    this.#devices = devices;
    this.#estimates = estimates;
  }

  queuedTotal(): number {
    let running = 0;
    for (const { remote } of this.#world.models.values()) running += remote?.running.size ?? 0;
    for (const { running: jobs } of allResidents(this.#devices)) running += jobs.size;
    return Math.max(0, this.#world.live.size - running);
  }

  place(job: Job): Promise<Place | null> {
    const live = this.#world.live.get(job.id);
    const entry = this.#world.models.get(job.model);
    if (live === undefined || entry === undefined) return Promise.resolve(null);
    if (live.phase !== "queued" && live.phase !== "delayed") return Promise.resolve(null);
    return Promise.resolve(this.#placeAt(entry, entry.queue.position(live), live));
  }

  placeFor(model: ModelName, priority: number): Promise<Place | null> {
    const entry = this.#world.models.get(model);
    if (entry === undefined) return Promise.resolve(null);
    const { ranking } = this.#world.settings.policy;
    const rank = rankOf(ranking, { acceptedAtMs: this.#world.clock.nowMs(), priority });
    const asked = { id: null, band: bandOf(priority) };
    return Promise.resolve(this.#placeAt(entry, entry.queue.countBefore(rank), asked));
  }

  #placeAt(entry: ModelEntry, position: number | null, job: { readonly id: JobId | null; readonly band: Band }): Place {
    const nowMs = this.#world.clock.nowMs();
    const held = entry.breaker.broken || this.#world.pauses.over(entry.spec) !== null;
    const estimate = position === null || held ? null : this.#estimates.of(job, entry, position);
    const resident = entry.remote !== null || this.#devices.some((device) => device.find(entry.spec.name) !== null);
    return {
      position,
      queued: Math.max(entry.queue.size, (position ?? -1) + 1),
      resident,
      needsSwap: !resident,
      loadMs: resident ? 0 : expectedLoadMs(entry),
      loadBoundMs: resident && !held ? 0 : loadBoundMs(entry, this.#devices, this.#world, undefined, job.band),
      estimatedMs: estimate?.midMs ?? null,
      estimatedRange: estimate?.range ?? null,
      start: estimate?.start ?? null,
      blocked: blockedOf(entry, this.#world, nowMs),
      loading: this.#loadingOf(entry),
      arrived: this.#arrived(entry),
      asOfMs: nowMs,
    };
  }

  #arrived({ spec }: ModelEntry): Record<Band, number> {
    const arrived: Record<Band, number> = { interactive: 0, normal: 0, batch: 0 };
    for (const other of this.#world.models.values()) {
      const near = other.spec === spec || other.spec.devices.some((device) => spec.devices.includes(device));
      if (near) for (const band of BANDS) arrived[band] += other.arrivals.total(band);
    }
    return arrived;
  }

  #loadingOf(entry: ModelEntry): Place["loading"] {
    for (const { move, spec } of this.#devices) {
      if (move === null || !entry.spec.devices.includes(spec.id)) continue;
      const model = move.phase === "loading" ? move.load : move.evict[0];
      if (model === null || model === undefined) continue;
      const phase = move.phase === "loading" ? (move.progress?.phase ?? "loading") : move.phase;
      return { model, phase, progress: move.progress?.progress ?? null, sinceMs: move.phaseSinceMs };
    }
    return null;
  }
}

function blockedOf(entry: ModelEntry, { pauses }: EngineWorld, nowMs: number): Place["blocked"] {
  if (entry.paused || pauses.over(entry.spec) !== null) return { reason: "paused", retryAtMs: null };
  if (entry.breaker.broken) return { reason: "model_broken", retryAtMs: entry.breaker.retryAtMs };
  if (entry.breaker.retryAtMs > nowMs) return { reason: "load_failed", retryAtMs: entry.breaker.retryAtMs };
  if (entry.holdOffUntilMs > nowMs) return { reason: "engine_unavailable", retryAtMs: entry.holdOffUntilMs };
  return null;
}
