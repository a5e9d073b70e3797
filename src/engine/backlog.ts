// The queued jobs of each model, in memory, rebuilt from the store at boot. Every change is O(log n), every view O(1):
// a decision never scans jobs.

import { BANDS, type Band } from "../domain/band.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { BandView, Deadline, Head } from "../scheduler/snapshot.ts";
import type { LiveJob } from "./live-job.ts";
import { SortedList } from "./sorted-list.ts";

const byRank = (a: LiveJob, b: LiveJob): number => a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
const byArrival = (a: LiveJob, b: LiveJob): number =>
  a.acceptedAtMs - b.acceptedAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const byDeadline = (a: LiveJob, b: LiveJob): number =>
  (a.deadlineAtMs ?? 0) - (b.deadlineAtMs ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const headOf = (job: LiveJob): Head => ({
  id: job.id,
  priority: job.priority,
  rank: job.rank,
  acceptedAtMs: job.acceptedAtMs,
});

interface BandQueue {
  readonly jobs: SortedList<LiveJob>;
  /**
   * Sum of when they were accepted, in whole ms after the queue's origin: whole numbers far below 2^53, so that it is what
   * its jobs add up to after any number of changes. A sum of instants as they are would lose its last digits for good.
   */
  sum: number;
}

const emptyBand = (): BandQueue => ({ jobs: new SortedList(byArrival), sum: 0 });

/**
 * One model's queue. Jobs that are demand and jobs that are not (orphans) lie apart, so that the demand job that runs next
 * is found at once, however many callers have hung up; the bands hold the demand again, by arrival.
 */
export class ModelQueue {
  readonly #wanted = new SortedList<LiveJob>(byRank);
  readonly #orphans = new SortedList<LiveJob>(byRank);
  /** Of the first job it ever held. */
  #originMs: number | null = null;
  /** Demand that has a deadline. */
  readonly #deadlines = new SortedList<LiveJob>(byDeadline);
  readonly #bands: Record<Band, BandQueue> = {
    interactive: emptyBand(),
    normal: emptyBand(),
    batch: emptyBand(),
  };

  /** Queued jobs that may be picked, orphans included. */
  get size(): number {
    return this.#wanted.size + this.#orphans.size;
  }

  /** Queued jobs that are demand. */
  get depth(): number {
    return this.#wanted.size;
  }

  add(job: LiveJob): void {
    this.#listOf(job).insert(job);
    if (job.demand) this.#count(job, 1);
  }

  /** False: it was not queued here. */
  remove(job: LiveJob): boolean {
    if (!this.#listOf(job).remove(job)) return false;
    if (job.demand) this.#count(job, -1);
    return true;
  }

  setDemand(job: LiveJob, demand: boolean): void {
    if (job.demand === demand) return;
    const queued = this.remove(job);
    job.demand = demand;
    if (queued) this.add(job);
  }

  /** The job that runs next, orphans included. */
  next(): LiveJob | undefined {
    const wanted = this.#wanted.first();
    const orphan = this.#orphans.first();
    if (wanted === undefined || orphan === undefined) return wanted ?? orphan;
    return byRank(wanted, orphan) < 0 ? wanted : orphan;
  }

  /** The demand job that runs next. */
  head(): Head | null {
    const first = this.#wanted.first();
    return first === undefined ? null : headOf(first);
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

  /** The demand job whose deadline is the earliest. */
  deadline(): Deadline | null {
    const first = this.#deadlines.first();
    return first === undefined || first.deadlineAtMs === null ? null : { id: first.id, atMs: first.deadlineAtMs };
  }

  /** What the band's demand has waited by now, in job-ms. */
  waitedMs(band: Band, nowMs: number): number {
    const { jobs, sum } = this.#bands[band];
    return Math.max(0, jobs.size * (nowMs - (this.#originMs ?? 0)) - sum);
  }

  band(band: Band): Omit<BandView, "arrivals" | "waitedMsAtLoad"> {
    const { jobs, sum } = this.#bands[band];
    const acceptedAtMsSum = jobs.size * (this.#originMs ?? 0) + sum;
    const first = jobs.first();
    return { depth: jobs.size, acceptedAtMsSum, oldest: first === undefined ? null : headOf(first) };
  }

  /** How many jobs run before it, orphans included; null when it is not queued here. */
  position(job: LiveJob): number | null {
    const among = this.#listOf(job).position(job);
    return among === null ? null : among + (job.demand ? this.#orphans : this.#wanted).countBefore(job);
  }

  /** How many would run before a demand job of this rank that came last. */
  countBefore(rank: number): number {
    // Only rank and id are compared; this id sorts behind every real one.
    const last = { rank, id: "job_~" as JobId } as LiveJob;
    return this.#wanted.countBefore(last) + this.#orphans.countBefore(last);
  }

  /** In no order. */
  *jobs(): Iterable<LiveJob> {
    yield* this.#wanted;
    yield* this.#orphans;
  }

  #listOf(job: LiveJob): SortedList<LiveJob> {
    return job.demand ? this.#wanted : this.#orphans;
  }

  #count(job: LiveJob, by: 1 | -1): void {
    if (job.deadlineAtMs !== null && by === 1) this.#deadlines.insert(job);
    else if (job.deadlineAtMs !== null) this.#deadlines.remove(job);
    const band = this.#bands[job.band];
    if (by === 1) band.jobs.insert(job);
    else band.jobs.remove(job);
    this.#originMs ??= Math.floor(job.acceptedAtMs);
    band.sum += by * (Math.floor(job.acceptedAtMs) - this.#originMs);
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
