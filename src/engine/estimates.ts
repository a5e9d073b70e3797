// When a queued job's answer will be ready: the live rule run forward over the counters, corrected by how such estimates
// came out before.

import { BANDS, type Band } from "../domain/band.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { JobId } from "../domain/ids.ts";
import { startAtMs } from "../scheduler/projection.ts";
import type { Snapshot } from "../scheduler/snapshot.ts";
import { Calibration } from "./calibration.ts";
import type { Place } from "./control.ts";
import { Outlook } from "./outlook.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

/** A job that starts so soon starts at once. */
const AT_ONCE_MS = 250;
/** Between two estimates of about one size whose outcomes count. */
const APART_MS = 15_000;
const LATE_MS = 300_000;
const SIZES_PER_DOUBLING = 2;
/** First estimates that wait for their outcome; beyond, further ones are not scored. */
const OPEN_MAX = 100_000;

export interface Estimate {
  /** Until the answer is ready. */
  readonly midMs: number;
  /** Null below 20 outcomes of this kind. */
  readonly range: Place["estimatedRange"];
}

interface Open {
  readonly atMs: number;
  readonly projectedMs: number;
  readonly shown: Estimate;
  readonly kind: Calibration;
}

/** Estimates for a job that starts at once, for one that waits, and for one that waits long are off in different ways. */
interface Kinds {
  readonly atOnce: Calibration;
  readonly soon: Calibration;
  readonly late: Calibration;
}

export class Estimates {
  readonly #world: EngineWorld;
  readonly #kinds: Record<Band, Kinds>;
  readonly #open = new Map<JobId, Open>();
  /** For each kind and size of estimate, when the last one that counted was asked for. */
  readonly #counted = new Map<Calibration, Map<number, number>>();
  readonly #outlook: Outlook;

  /** @param look One snapshot for each device, of this instant. */
  constructor(world: EngineWorld, look: () => readonly Snapshot[]) {
    this.#world = world;
    this.#outlook = new Outlook(world, look);
    const kinds = BANDS.map((band) => [band, kindsOf()] as const);
    this.#kinds = Object.fromEntries(kinds) as Record<Band, Kinds>;
  }

  /** Null when nothing is known of it. The first estimate of a job is remembered, and scored when its answer is there. */
  of(job: { readonly id: JobId | null; readonly band: Band }, entry: ModelEntry, position: number): Estimate | null {
    const nowMs = this.#world.clock.nowMs();
    const startMs = this.#startAtMs(entry, position, nowMs);
    const runMs = entry.learned.runMs;
    if (startMs === null || runMs === null) return null;
    const projectedMs = Math.max(0, startMs - nowMs) + runMs;
    const kinds = this.#kinds[job.band];
    const kind = startMs <= nowMs + AT_ONCE_MS ? kinds.atOnce : projectedMs < LATE_MS ? kinds.soon : kinds.late;
    const spread = kind.spread();
    const range =
      spread === null
        ? null
        : {
            lowMs: projectedMs * spread.low,
            highMs: projectedMs * spread.high,
            observations: spread.observations,
          };
    const shown = { midMs: projectedMs * (spread?.mid ?? 1), range };
    if (job.id !== null && !this.#open.has(job.id) && this.#open.size < OPEN_MAX) {
      this.#open.set(job.id, { atMs: nowMs, projectedMs, shown, kind });
    }
    return shown;
  }

  /** Scores what has ended. */
  hear(event: RouterEvent): void {
    this.#outlook.hear(event);
    if (event.type === "job.finished") this.#score(event);
  }

  #score(event: RouterEvent & { readonly type: "job.finished" }): void {
    const open = this.#open.get(event.job);
    if (open === undefined) return;
    this.#open.delete(event.job);
    if (event.status !== "succeeded") return;
    const { model, band } = event;
    const actualMs = this.#world.clock.nowMs() - open.atMs;
    if (this.#isNews(open)) open.kind.record(open.projectedMs, actualMs);
    const { midMs, range } = open.shown;
    const hit = range === null ? null : actualMs >= range.lowMs && actualMs <= range.highMs;
    this.#world.emit({ type: "job.estimated", job: event.job, model, band, estimatedMs: midMs, actualMs, hit });
  }

  /** Neighbours in a burst of hundreds share one fate, and would soon be all that is remembered: one of them counts. */
  #isNews({ kind, atMs, projectedMs }: Open): boolean {
    const alike = this.#counted.get(kind) ?? new Map<number, number>();
    this.#counted.set(kind, alike);
    const size = Math.round(SIZES_PER_DOUBLING * Math.log2(Math.max(1, projectedMs)));
    const news = Math.abs(atMs - (alike.get(size) ?? Number.NEGATIVE_INFINITY)) >= APART_MS;
    if (news) alike.set(size, atMs);
    return news;
  }

  #startAtMs(entry: ModelEntry, position: number, nowMs: number): number | null {
    if (entry.remote !== null) return remoteStartMs(entry, position, nowMs);
    const { stretches, started, whole } = this.#outlook.of(entry.spec.name);
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

/** A remote model is always on: its slots are all that can be waited for. */
function remoteStartMs({ remote, learned, spec }: ModelEntry, position: number, nowMs: number): number | null {
  const before = position + (remote?.running.size ?? 0);
  if (before < spec.concurrency) return nowMs;
  return learned.runMs === null ? null : nowMs + ((before - spec.concurrency + 1) * learned.runMs) / spec.concurrency;
}

function kindsOf(): Kinds {
  return { atOnce: new Calibration(), soon: new Calibration(), late: new Calibration() };
}
