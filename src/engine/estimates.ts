// When a queued job will start and when its answer will be ready: the live rule run forward over the counters, corrected
// by how such estimates came out before.

import { BANDS, type Band } from "../domain/band.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { DeviceId, JobId, ModelName } from "../domain/ids.ts";
import { startAtMs } from "../scheduler/projection.ts";
import type { Snapshot } from "../scheduler/snapshot.ts";
import type { Place, StartRange } from "./control.ts";
import type { Page } from "./notebook.ts";
import { Outlook } from "./outlook.ts";
import { Scoring } from "./scoring.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

/** A start is off by this much for reasons that have nothing to do with how far away it is. */
const SOFT_MS = 1_000;

export interface Estimate {
  /** Until the answer is ready; null: nothing is known of how long it runs. */
  readonly midMs: number | null;
  /** Null below 20 outcomes of this kind. */
  readonly range: Place["estimatedRange"];
  /** Until it starts; null below 20 outcomes of this kind. */
  readonly start: StartRange | null;
}

interface Asked {
  readonly id: JobId | null;
  readonly band: Band;
}

export class Estimates {
  readonly #world: EngineWorld;
  readonly #answers = new Scoring(0);
  readonly #starts = new Scoring(SOFT_MS);
  readonly #outlook: Outlook;

  /** @param look One snapshot for each device, of this instant. */
  constructor(world: EngineWorld, look: () => readonly Snapshot[]) {
    this.#world = world;
    this.#outlook = new Outlook(world, look);
  }

  /** Null when nothing is known of it. The first estimate of a job is remembered, and scored when it has come. */
  of(job: Asked, entry: ModelEntry, position: number): Estimate | null {
    const nowMs = this.#world.clock.nowMs();
    const startMs = this.#startAtMs(entry, position, nowMs);
    if (startMs === null) return null;
    const startsInMs = Math.max(0, startMs - nowMs);
    const start = this.#startOf(job, startsInMs, nowMs);
    const runMs = entry.learned.runMs;
    if (runMs === null) return { midMs: null, range: null, start };
    const projectedMs = startsInMs + runMs;
    const shown = this.#answers.corrected(job.band, projectedMs, startsInMs);
    if (job.id !== null) this.#answers.told(job.id, job.band, { atMs: nowMs, projectedMs, startsInMs, shown });
    return { ...shown, start };
  }

  /** Of a model's first waiting job and of its last, from what has been foreseen already. Null: nothing is foreseen, or nothing waits. */
  ofQueue({
    queue,
    ...rest
  }: ModelEntry): { readonly first: StartRange | null; readonly lastMs: number | null } | null {
    const entry = { queue, ...rest };
    const head = queue.head();
    if (head === null) return null;
    const nowMs = this.#world.clock.nowMs();
    const firstMs = this.#startAtMs(entry, 0, nowMs, true);
    if (firstMs === null) return null;
    const band = bandOfHead(entry);
    const first = this.#startOf({ id: head.id, band }, Math.max(0, firstMs - nowMs), nowMs);
    const lastMs = queue.depth < 2 ? firstMs : this.#startAtMs(entry, queue.depth - 1, nowMs, true);
    if (first === null || lastMs === null) return { first, lastMs: null };
    return { first, lastMs: this.#starts.corrected(band, Math.max(0, lastMs - nowMs), lastMs - nowMs).midMs };
  }

  /** The model that comes next to a device, or is on its way, and until when. `inMs` null: it cannot be said. */
  nextOf(device: DeviceId): { readonly model: ModelName; readonly inMs: StartRange | null } | null {
    const nowMs = this.#world.clock.nowMs();
    const next = this.#outlook.nextOf(device);
    const entry = next === null ? undefined : this.#world.models.get(next.model);
    if (next === null || entry === undefined) return null;
    const readyInMs = Math.max(0, next.readyAtMs - nowMs);
    const { midMs, range } = this.#starts.corrected(bandOfHead(entry), readyInMs, readyInMs);
    return { model: next.model, inMs: range === null ? null : { ...range, midMs } };
  }

  /** How far estimates were off, of answers and of starts. */
  get pages(): Page[] {
    const pageOf = (of: string, scoring: Scoring): Page => ({
      key: `estimates ${of}`,
      write: () => scoring.noted(),
      read: (note) => scoring.recall(note),
    });
    return [pageOf("answer", this.#answers), pageOf("start", this.#starts)];
  }

  /** Scores what has started and what has ended. */
  hear(event: RouterEvent): void {
    this.#outlook.hear(event);
    if (event.type === "job.dispatched") this.#score(event, "start", this.#starts);
    if (event.type !== "job.finished") return;
    this.#starts.forget(event.job);
    if (event.status === "succeeded") this.#score(event, "answer", this.#answers);
    else this.#answers.forget(event.job);
  }

  #score(event: { job: JobId; model: ModelName; band: Band }, of: "start" | "answer", scoring: Scoring): void {
    const { job, model, band } = event;
    const outcome = scoring.came(job, this.#world.clock.nowMs());
    if (outcome !== null) this.#world.emit({ type: "job.estimated", of, job, model, band, ...outcome });
  }

  #startOf({ id, band }: Asked, startsInMs: number, nowMs: number): StartRange | null {
    const shown = this.#starts.corrected(band, startsInMs, startsInMs);
    if (id !== null) this.#starts.told(id, band, { atMs: nowMs, projectedMs: startsInMs, startsInMs, shown });
    return shown.range === null ? null : { ...shown.range, midMs: shown.midMs };
  }

  #startAtMs(entry: ModelEntry, position: number, nowMs: number, patient = false): number | null {
    if (entry.remote !== null) return remoteStartMs(entry, position, nowMs);
    const { stretches, started, whole } = this.#outlook.of(entry.spec.name, patient);
    const ahead = position + started;
    const startMs = startAtMs(stretches, ahead);
    const last = stretches.at(-1);
    if (startMs !== null || last === undefined || !whole) return startMs;
    // It came after the look ahead: behind the last that is foreseen, at the pace of its slots.
    const total = stretches.reduce((sum, { jobs }) => sum + jobs, 0);
    const runMs = entry.learned.runMs ?? 0;
    return last.toMs + ((ahead - total + 1) * runMs) / entry.spec.concurrency;
  }
}

/** The most urgent band that waits. */
function bandOfHead({ queue }: ModelEntry): Band {
  return BANDS.find((band) => queue.band(band).depth > 0) ?? "normal";
}

/** A remote model is always on: its slots are all that can be waited for. */
function remoteStartMs({ remote, learned, spec }: ModelEntry, position: number, nowMs: number): number | null {
  const before = position + (remote?.running.size ?? 0);
  if (before < spec.concurrency) return nowMs;
  return learned.runMs === null ? null : nowMs + ((before - spec.concurrency + 1) * learned.runMs) / spec.concurrency;
}
