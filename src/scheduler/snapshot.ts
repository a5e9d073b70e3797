// The world at one instant as the scheduler sees it: O(models), never O(jobs).

import type { Band } from "../domain/band.ts";
import type { DeviceId, JobId, ModelName } from "../domain/ids.ts";
import type { Forecast, PreloadBudget } from "./forecast.ts";

/** The instant by which a queued job has to be done. */
export interface Deadline {
  readonly id: JobId;
  readonly atMs: number;
}

/** A queued job that stands for its queue. */
export interface Head {
  readonly id: JobId;
  readonly priority: number;
  readonly rank: number;
  readonly acceptedAtMs: number;
}

/** A count in which everything is worth half after each half-life: `value` as of `atMs`. */
export interface Decayed {
  readonly value: number;
  readonly atMs: number;
}

export interface BandView {
  readonly depth: number;
  /** Sum of `acceptedAtMs`, in whole ms, over the band's queued jobs: their summed waits in O(1). */
  readonly acceptedAtMsSum: number;
  readonly oldest: Head | null;
  /** Jobs that came, queued or not; the half-life is the policy's (`BoundPolicy.rateHalfLifeMs`). */
  readonly arrivals: Decayed;
  /** Sum of what its queued jobs had waited when a load last ended on this device: job-ms; 0 before the first. */
  readonly waitedMsAtLoad: number;
}

/** How fast a model works off its queue, as measured: n jobs in flight each take `aloneMs` x (1 + slowdownPerJob x (n - 1)). */
export interface ServiceView {
  /** A job's run if it ran alone; moving average, the driver's guess before the first, null when there is none. */
  readonly aloneMs: number | null;
  readonly slowdownPerJob: number;
}

/**
 * One model's queue and health. Only jobs that are demand count: not those that back off, and not those whose caller has
 * closed its socket (they may still be served, but cause, hold and finish no load).
 */
export interface ModelView {
  readonly model: ModelName;
  /** Position in the configuration: the last tie-break. */
  readonly order: number;
  /** The model's own priority, above 0. */
  readonly priority: number;
  readonly depth: number;
  readonly bands: Readonly<Record<Band, BandView>>;
  /** The job that runs next: lowest rank, then id. Null when depth is 0. */
  readonly head: Head | null;
  /** The demand job that was accepted first. */
  readonly oldest: Head | null;
  readonly inFlight: number;
  readonly slots: number;
  /** Learned, else configured. */
  readonly loadMs: number;
  /** To take it out: learned, 0 before the first. */
  readonly unloadMs: number;
  readonly service: ServiceView;
  /** Null: none in this router's life. */
  readonly lastArrivalAtMs: number | null;
  /** Since when it has had demand and not been resident, as the decisions saw it; null while that is not so. */
  readonly unvisitedSinceMs: number | null;
  /** The queued demand job whose deadline is the earliest; null when none has one. */
  readonly deadline: Deadline | null;
  /**
   * When it last left the device, so that of several overdue models the one unvisited longest is next, and not the one
   * with the oldest backlog; absent: it has not been there, or nobody keeps it.
   */
  readonly leftAtMs?: number;
  /** What it takes on each of its devices: claimed, or measured where that is more; null: a whole device. */
  readonly memoryGiB: number | null;
  /** The devices that it is loaded across, all at once; absent: this one alone. */
  readonly across?: readonly DeviceId[];
  /** Models that are never on a device together with it; absent: none. */
  readonly apartFrom?: readonly ModelName[];
  /** How many of it are loaded, here and elsewhere; absent: at most one. */
  readonly copies?: number;
  /** Loaded on a partner and not at home here: it may have to go, and takes no other part. Absent: false. */
  readonly foreign?: boolean;
  /** Not to be loaded before; 0 when it may. */
  readonly retryAtMs: number;
  /** Loads failed too often: it waits for its half-open probe at `retryAtMs`. */
  readonly broken: boolean;
  readonly paused: boolean;
  readonly pinned: boolean;
  /** Unload after so long without work; null: never. */
  readonly unloadAfterMs: number | null;
  /** Absent or null: nothing is known of its future. */
  readonly forecast?: Forecast | null;
  /** An operator, the configuration (`preload`, `pinned`) or a failed load asks for it; served when nothing with waiting work is in the way. */
  readonly wanted: "operator" | "keep_ready" | "pinned" | "restore" | null;
}

export interface Resident {
  readonly model: ModelName;
  readonly sinceMs: number;
  /** Since when it has had nothing queued and nothing in flight; null while it has. */
  readonly idleSinceMs: number | null;
  /** Jobs started since the load. */
  readonly dispatched: number;
  /** Brought in by the ceiling. */
  readonly forced: boolean;
  /** It drains or is being stopped, whatever else the device does; absent: false. */
  readonly leaving?: boolean;
}

export interface Transition {
  readonly phase: "draining" | "unloading" | "loading";
  /** What is on its way in; null: only going out. */
  readonly load: ModelName | null;
  readonly evict: readonly ModelName[];
  readonly sinceMs: number;
  /** False: an operator's or a pin's load, or one that keeps a model ready; it is not abandoned for want of demand. */
  readonly onDemand: boolean;
  /** It has been given up and is ending; absent: false. */
  readonly calledOff?: boolean;
  /** Decided on at another device, of a model that is loaded across both; absent: false. */
  readonly guest?: boolean;
  /** A load ahead of need: given up as soon as work waits that could be loaded instead. */
  readonly ahead?: boolean;
}

export interface DeviceView {
  readonly device: DeviceId;
  /** What models may claim together; null: one model at a time. */
  readonly memoryGiB: number | null;
  /** What is loaded, in the order in which it was; one that is not evicted serves during another's load or drain. */
  readonly residents: readonly Resident[];
  readonly transition: Transition | null;
  /** Stopped from dispatching and moving by an operator. */
  readonly paused: boolean;
  /** A model would not stop, or its memory did not come back: nothing is loaded before this instant; 0 when fine. */
  readonly blockedUntilMs: number;
  /** For loads ahead of need; absent or null: none are made. */
  readonly preloading?: PreloadBudget | null;
  /**
   * What is left of the budget for cutting into unfinished queues, as of `atMs`; how it grows and how large it may be is
   * the policy's. Null: nothing was spent yet.
   */
  readonly budget: Budget | null;
  /** The share of the last half hour in which it had work, queued or running: as of `atMs`, and whether it has now. */
  readonly busyShare: BusyShare;
  /** When anything last happened here: an arrival, a start, an end, a load. Time alone does not move it. */
  readonly eventAtMs: number;
}

/** Seconds of loading that may be spent, in ms. */
export interface Budget {
  readonly leftMs: number;
  readonly atMs: number;
}

/** Decays with a time constant of 30 minutes towards 1 while `busy`, else towards 0. */
export interface BusyShare {
  readonly share: number;
  readonly atMs: number;
  readonly busy: boolean;
}

/** What one device's decision is made from. `models` are those that may live on it, in configuration order. */
export interface Snapshot {
  readonly nowMs: number;
  readonly device: DeviceView;
  /** The other devices of models that are loaded across several, this one among them; absent: none. */
  readonly partners?: readonly DeviceView[];
  readonly models: readonly ModelView[];
}
