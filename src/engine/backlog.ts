// The queued jobs of each model, in memory, rebuilt from the store at boot. Every change is O(log n), every view O(1):
// a decision never scans jobs.

import { BANDS, type Band } from "../domain/band.ts";
import type { ModelName } from "../domain/ids.ts";
import type { BandView, Head } from "../scheduler/snapshot.ts";
import type { LiveJob } from "./live-job.ts";
import { SortedList } from "./sorted-list.ts";

const byRank = (a: LiveJob, b: LiveJob): number => a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
const byArrival = (a: LiveJob, b: LiveJob): number =>
  a.acceptedAtMs - b.acceptedAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const headOf = (job: LiveJob): Head => ({
  id: job.id,
  priority: job.priority,
  rank: job.rank,
  acceptedAtMs: job.acceptedAtMs,
});

interface BandQueue {
  readonly jobs: SortedList<LiveJob>;
  acceptedAtMsSum: number;
}

const emptyBand = (): BandQueue => ({ jobs: new SortedList(byArrival), acceptedAtMsSum: 0 });

/** One model's queue. `ready` holds every job that may be picked; the bands hold those of them that are demand. */
export class ModelQueue {
  readonly #ready = new SortedList<LiveJob>(byRank);
  readonly #bands: Record<Band, BandQueue> = {
    interactive: emptyBand(),
    normal: emptyBand(),
    batch: emptyBand(),
  };

  /** Queued jobs that may be picked, orphans included. */
  get size(): number {
    return this.#ready.size;
  }

  /** Queued jobs that are demand. */
  get depth(): number {
    return this.#bands.interactive.jobs.size + this.#bands.normal.jobs.size + this.#bands.batch.jobs.size;
  }

  add(job: LiveJob): void {
    this.#ready.insert(job);
    if (job.demand) this.#count(job, 1);
  }

  /** False: it was not queued here. */
  remove(job: LiveJob): boolean {
    if (!this.#ready.remove(job)) return false;
    if (job.demand) this.#count(job, -1);
    return true;
  }

  setDemand(job: LiveJob, demand: boolean): void {
    if (job.demand === demand) return;
    const queued = this.#ready.position(job) !== null;
    if (queued && !demand) this.#count(job, -1);
    job.demand = demand;
    if (queued && demand) this.#count(job, 1);
  }

  /** The job that runs next, orphans included. */
  next(): LiveJob | undefined {
    return this.#ready.first();
  }

  /** The demand job that runs next. */
  head(): Head | null {
    if (this.depth === 0) return null;
    for (const job of this.#ready) if (job.demand) return headOf(job);
    return null;
  }

  /** The demand job that was accepted first. */
  oldest(): Head | null {
    let oldest: LiveJob | undefined;
    for (const band of BANDS) {
      const first = this.#bands[band].jobs.first();
      if (first !== undefined && (oldest === undefined || byArrival(first, oldest) < 0)) oldest = first;
    }
    return oldest === undefined ? null : headOf(oldest);
  }

  band(band: Band): BandView {
    const { jobs, acceptedAtMsSum } = this.#bands[band];
    const first = jobs.first();
    return { depth: jobs.size, acceptedAtMsSum, oldest: first === undefined ? null : headOf(first) };
  }

  position(job: LiveJob): number | null {
    return this.#ready.position(job);
  }

  jobs(): Iterable<LiveJob> {
    return this.#ready;
  }

  #count(job: LiveJob, by: 1 | -1): void {
    const band = this.#bands[job.band];
    if (by === 1) band.jobs.insert(job);
    else band.jobs.remove(job);
    band.acceptedAtMsSum += by * job.acceptedAtMs;
  }
}

/** All queues. Models that are not configured have none. */
export class Backlog {
  readonly #queues = new Map<ModelName, ModelQueue>();

  queue(model: ModelName): ModelQueue {
    let queue = this.#queues.get(model);
    if (queue === undefined) {
      queue = new ModelQueue();
      this.#queues.set(model, queue);
    }
    return queue;
  }

  get total(): number {
    let total = 0;
    for (const queue of this.#queues.values()) total += queue.size;
    return total;
  }
}
