// The engine as intake and HTTP see it. Everything here returns at once or after the commit it names.

import type { Band } from "../domain/band.ts";
import type { Grain, Span } from "../domain/change.ts";
import type { Decision, Looks } from "../domain/decision.ts";
import type { DevicePhase } from "../domain/event.ts";
import type { Hint, HintState } from "../domain/hint.ts";
import type { CallerId, DeviceId, HintId, JobId, ModelName } from "../domain/ids.ts";
import type { CancelReason, Job, Noticed } from "../domain/job.ts";
import type { Minute } from "../domain/minute.ts";
import type { ModelSpec } from "../domain/model.ts";
import type { Pause } from "../domain/pause.ts";
import type { SettingValues, Tuning } from "../domain/tuning.ts";
import type { QueueCause, Wait } from "../domain/wait.ts";
import type { Forecast } from "../scheduler/forecast.ts";
import type { Body, Ended } from "../store/store.ts";
import type { Overview } from "./overview.ts";
import type { PauseWords } from "./pauses.ts";
import type { Relay } from "./relay.ts";

/** A socket that waits for a job: while held, its lease does not run. */
export interface Hold {
  /** The wait is over and the caller was answered, or will come back by itself: the full lease starts anew. */
  release(): void;
  /**
   * The socket closed. `orphanMs` 0: the job is cancelled with `disconnect` at once. Else it keeps its place so long,
   * counting as no demand meanwhile, unless it is held again. Other holds on the same job keep it as it is.
   */
  drop(orphanMs: number): void;
  /**
   * The caller was sent on and comes back at once: as `drop`, but it goes on counting as demand for a moment, so that the
   * gap between two requests cannot stop a load.
   */
  sendOn(orphanMs: number): void;
}

/** How long until something starts: half of such estimates came out below `midMs`, one in ten below low or above high. */
export interface StartRange {
  readonly lowMs: number;
  readonly midMs: number;
  readonly highMs: number;
  /** Outcomes behind it. */
  readonly observations: number;
}

/** Facts about a queued job. Null fields are not known to this process. */
export interface Place {
  /** 0: next of its model. */
  readonly position: number | null;
  /** Jobs that wait for its model, this one among them. */
  readonly queued: number;
  readonly resident: boolean;
  readonly needsSwap: boolean;
  readonly loadMs: number;
  /** The policy's bound on when its model is loaded at the latest; null when it states none. */
  readonly loadBoundMs: number | null;
  /** Until the answer is ready; null when nothing is known. */
  readonly estimatedMs: number | null;
  /** Eight of ten answers come between; null below 20 outcomes of such estimates. */
  readonly estimatedRange: { readonly lowMs: number; readonly highMs: number; readonly observations: number } | null;
  /** Until it starts; eight of ten starts come between. Null below 20 outcomes of such estimates. */
  readonly start: StartRange | null;
  readonly blocked: { readonly reason: string; readonly retryAtMs: number | null } | null;
  readonly loading: {
    readonly model: ModelName;
    readonly phase: string;
    readonly progress: number | null;
    readonly sinceMs: number;
  } | null;
  /** Jobs that came to models it shares a device with, itself among them, in this router's life. */
  readonly arrived: Readonly<Record<Band, number>>;
  /** When this view was true, router time. */
  readonly asOfMs: number;
}

export interface NewHint extends Pick<Hint, "caller" | "model" | "atMs" | "untilMs" | "repeat" | "jobs" | "priority"> {}

export interface HintView {
  readonly hint: Hint;
  readonly state: HintState;
  /** When its need is over, wall clock. */
  readonly expiresAtMs: number;
  /** Hints may cause loads now: preloading is on, and hints have not been in vain too often. */
  readonly acts: boolean;
}

/** What callers say beforehand. Each verb resolves after COMMIT. */
export interface Hints {
  /** @throws {SirError} too_many_hints */
  add(hint: NewHint): Promise<HintView>;
  list(caller: CallerId): readonly HintView[];
  /** False: the caller has no such hint. */
  remove(caller: CallerId, id: HintId): Promise<boolean>;
}

/** Of the last twelve at most. */
export interface PreloadRecord {
  readonly hits: number;
  readonly misses: number;
  /** Too many were in vain: none before. Null: they go on. */
  readonly pausedUntilMs: number | null;
}

export interface PreloadingStatus {
  readonly mode: "auto" | "hints" | false;
  readonly hint: PreloadRecord;
  readonly learned: PreloadRecord;
}

export interface ForecastStatus extends Forecast {
  /** How the last predictions of each kind came out, whether or not anything was loaded for them. */
  readonly cron: { readonly hits: number; readonly predictions: number };
  readonly daily: { readonly hits: number; readonly predictions: number };
}

export interface ModelStatus {
  readonly spec: ModelSpec;
  readonly state: "absent" | "asleep" | "loading" | "resident" | "draining" | "unloading" | "broken" | "remote";
  readonly device: DeviceId | null;
  /** Every device it takes memory of; more than one across a group, or with a second copy. */
  readonly devices: readonly DeviceId[];
  /** What the configuration claims, over all its devices; null: whole devices. */
  readonly memoryGiB: number | null;
  /** What its last load was seen to take; null: it cannot be asked, or has not been loaded. */
  readonly measuredGiB: number | null;
  readonly sinceMs: number | null;
  readonly pinned: boolean;
  readonly paused: boolean;
  /** The operator's act that keeps its jobs from starting, on the model or on what it needs; null: none. */
  readonly pause: Pause | null;
  readonly queued: Readonly<Record<Band, number>>;
  readonly oldestWaitMs: number;
  /** 0 where the band's queue is empty. */
  readonly oldestWaitMsByBand: Readonly<Record<Band, number>>;
  readonly running: number;
  readonly loadMs: number;
  readonly loadFailures: number;
  readonly retryAtMs: number | null;
  readonly lastError: string | null;
  readonly wait: Wait | null;
  /** Since this router's start, summed over queued jobs, by what their queue waited for; jobs that back off are not in it. */
  readonly waitedMs: ReadonlyMap<QueueCause, number>;
  /** Null: nothing is known of its future. */
  readonly forecast: ForecastStatus | null;
}

export interface DeviceStatus {
  readonly device: DeviceId;
  readonly phase: DevicePhase;
  readonly models: readonly ModelName[];
  readonly memoryGiB: number | null;
  /** By what is loaded or loading; null where the device's memory is not known. */
  readonly claimedGiB: number | null;
  readonly sinceMs: number;
  readonly paused: boolean;
  /** The operator's act that holds it, or the whole router. */
  readonly pause: Pause | null;
  readonly decision: Decision | null;
  /** How often that was confirmed until now; null: there was one look. */
  readonly looks: Looks | null;
  /** What is left for loads ahead of need; null: there are none. */
  readonly preloadLeftMs: number | null;
}

export interface EngineStatus {
  readonly atMs: number;
  readonly policy: string;
  readonly paused: boolean;
  /** Of the whole router. */
  readonly pause: Pause | null;
  /** All that hold now. */
  readonly pauses: readonly Pause[];
  readonly draining: boolean;
  /** The longest that a job may wait before its model is loaded, by the ceiling's rule; null: there is none. */
  readonly ceilingMs: number | null;
  /** Every job that is not final and on no slot, those that back off included. */
  readonly queued: number;
  readonly running: number;
  readonly models: readonly ModelStatus[];
  readonly devices: readonly DeviceStatus[];
  readonly preloading: PreloadingStatus;
}

export interface Readiness {
  readonly ready: boolean;
  /** In words, when not. */
  readonly problems: readonly string[];
}

/** Where a job stands in the queues; async and nullable, because another replica may lead. */
export interface QueueView {
  place(job: Job): Promise<Place | null>;
  /** Where a job of this priority would stand if it were accepted now; null: no such model. */
  placeFor(model: ModelName, priority: number): Promise<Place | null>;
  queuedTotal(): number;
}

/**
 * Verbs of operators. Each resolves when it is accepted and recorded, not when its effect is complete. What changes
 * anything on a device is a decision that names `who` (absent: a caller in this process).
 */
export interface Operator {
  load(model: ModelName, who?: string): Promise<void>;
  /** Drains first unless forced. */
  unload(model: ModelName, force: boolean, who?: string): Promise<void>;
  pin(model: ModelName, who?: string): Promise<void>;
  unpin(model: ModelName, who?: string): Promise<void>;
  /** Starts nothing more, on this device or (null) on any, and moves nothing; what runs and what loads goes on. */
  pause(device?: DeviceId | null, words?: PauseWords): Promise<void>;
  /** Ends that pause; of the router also a drain. The other pauses stay. */
  resume(device?: DeviceId | null): Promise<void>;
  /** No new work is taken; what is queued and what runs finishes. */
  drain(): Promise<void>;
  /** Starts nothing more of this model, lets what runs finish, and unloads it; `load` brings it back. */
  drainModel(model: ModelName, words?: PauseWords): Promise<void>;
  logs(model: ModelName, lines: number): Promise<readonly string[]>;
}

/** What may not be on the disk yet. */
export interface Latest {
  /** What models do now, and what ended a moment ago. */
  spans(grain: Grain): readonly Span[];
  /** The minute that runs, of all models together. */
  minutes(): readonly Minute[];
  /** Of a job that is not final; null: it is, or this router does not have it. */
  noticed(id: JobId): Noticed | null;
}

export interface EngineControl {
  readonly latest: Latest;
  readonly relay: Relay;
  readonly queue: QueueView;
  readonly operator: Operator;
  readonly hints: Hints;
  /** The model's facts, or null when it is not configured. */
  model(name: ModelName): ModelSpec | null;
  /**
   * Takes an accepted job into the queue. `body` is given for jobs that are not durable: nobody else has it.
   * Idempotent by id.
   */
  admit(job: Job, body: Body | null): void;
  /**
   * A job may have been stored without anybody hearing of it (its commit was not acknowledged): for a while the engine
   * looks for such jobs in the store and admits them.
   */
  reconcile(): void;
  /** Removes it from the queue at once, commits the end, then aborts its engine call. Null: no such job. */
  cancel(id: JobId, reason: CancelReason): Promise<Ended | null>;
  /** A poll by its owner: the full lease starts anew. Does nothing for a job without a lease or a final one. */
  renew(id: JobId): void;
  hold(id: JobId): Hold;
  /** Its engine is known to have chat completions and no Responses endpoint. */
  speaksChatOnly(model: ModelName): boolean;
  /** Only sockets have wanted it, and all of them are gone: it keeps its place for a while. */
  isOrphan(id: JobId): boolean;
  /**
   * Makes a plain synchronous request durable, so that it outlives its socket: its body is stored, and its answer will be.
   * Resolves after COMMIT; null when that cannot be, or when it is over already. A durable job is returned as it is.
   * @param repeat By what its caller's repetition is recognised, also after a restart.
   */
  keep(id: JobId, repeat: Uint8Array | null): Promise<Job | null>;
  /** When the job's lease lapses, router time; null when it has none or is held. */
  leaseExpiresAtMs(id: JobId): number | null;
  /** Resolves when the job is final (with the committed row), or null once `untilMs` has come or `signal` is aborted. */
  finished(id: JobId, untilMs: number, signal?: AbortSignal): Promise<Job | null>;
  /** Hears of each change of a live job's state (queued, started, loading, final); returns how to stop. */
  watch(id: JobId, onChange: () => void): () => void;
  status(): EngineStatus;
  /** What operators read beside; dearer than `status`. */
  overview(): Overview;
  readiness(): Readiness;
}

/** Settings that an operator wants to try. Durations in ms. */
export interface TuningWish {
  readonly policy: string;
  readonly set: SettingValues;
  /** What the router must have now: the proposal was made from it. */
  readonly base: SettingValues;
  readonly shadowMs: number;
  readonly watchMs: number;
}

export interface TunerControl {
  readonly current: Tuning | null;
  /** Stored when it answers; or why it is not taken. */
  propose(wish: TuningWish): Promise<Tuning | string>;
  /** What held before holds again; null: nothing was on trial or kept. */
  giveBack(reason: string): Promise<Tuning | null>;
}
