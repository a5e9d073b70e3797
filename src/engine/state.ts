// What the engine knows of each model, and what being resident is. Plain records: each field has one writer, named here.

import type { Backend, Instance } from "../backends/backend.ts";
import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { Emit } from "../domain/event.ts";
import type { DeviceId, IdSource, JobId, ModelName } from "../domain/ids.ts";
import type { Noticed } from "../domain/job.ts";
import type { ModelSpec } from "../domain/model.ts";
import type { Wait } from "../domain/wait.ts";
import type { Store } from "../store/store.ts";
import type { Backlog, ModelQueue } from "./backlog.ts";
import type { Breaker } from "./breaker.ts";
import type { Foresight } from "./foresight.ts";
import type { Learned } from "./learned.ts";
import type { LiveJob } from "./live-job.ts";
import { type ArrivalMeter, type CauseMeter, type WorkMark, WorkMeter } from "./meters.ts";
import type { Minutes } from "./minutes.ts";
import type { Pauses } from "./pauses.ts";
import type { ChatOnly } from "./respond.ts";
import type { EngineSettings } from "./settings.ts";
import { type StartTally, wentFirstOf } from "./went-first.ts";

/** A model that can serve now. Written by device.ts and moves.ts (and, for `running`, by the attempts it runs). */
export interface Residency {
  readonly instance: Instance;
  readonly backend: Backend;
  readonly sinceMs: number;
  /** Sampled at each pass; null while it has work. */
  idleSinceMs: number | null;
  /** Jobs started since the load. */
  dispatched: number;
  readonly forced: boolean;
  /** What occupies its slots. */
  readonly running: Map<JobId, LiveJob>;
  /** The last byte or end of any of its jobs, or the start of one on an engine without work. */
  progressAtMs: number;
  readonly work: WorkMeter;
  /** Where it takes memory; more than one for a model that is loaded across several. Empty: always on elsewhere. */
  readonly devices: readonly DeviceId[];
  /** It drains or is being stopped: nothing more is started on it. */
  leaving: boolean;
  /** Told when the last of `running` is gone; set while it drains. */
  emptied: (() => void) | null;
}

export interface ModelEntry {
  /** Replaced when the configuration is read again. */
  spec: ModelSpec;
  backend: Backend;
  order: number;
  readonly queue: ModelQueue;
  breaker: Breaker;
  learned: Learned;
  readonly arrivals: ArrivalMeter;
  readonly starts: StartTally;
  /** Since when the passes have found it with demand and not resident; null while they do not. Written by the loop. */
  unvisitedSinceMs: number | null;
  /** For models that are always on elsewhere; null for those that need a device. */
  remote: Residency | null;
  /** By an operator. */
  paused: boolean;
  pinned: boolean;
  /** Whose pin it is; null: the configuration's, or it has none. */
  pinnedBy: string | null;
  /** Who asked for a load that has not been decided yet; null: nobody. */
  wantedBy: string | null;
  /** To be loaded when nothing waits: `preload` and `pinned` at start, a pin set later, a pinned model that was lost. */
  standing: boolean;
  /** Its engine was busy or lost: nothing is started on it before. */
  holdOffUntilMs: number;
  /** Lost or busy answers since the last good one: how long the next hold-off is. */
  troubles: number;
  /** When it last left a device; null when it has not, in this router's life. */
  leftAtMs: number | null;
  /** Taken out of the configuration: nothing new, unload when it may. */
  removed: boolean;
  /** The stretch that is open now; written by waits.ts. */
  wait: Wait | null;
  readonly waited: CauseMeter;
}

/** What every part of the engine may use. */
export interface EngineWorld {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly store: Store;
  /** Models whose engine was found to have no Responses endpoint. */
  readonly chatOnly: ChatOnly;
  readonly emit: Emit;
  /** Tells those who watch. */
  changed(change: Change): void;
  settings: EngineSettings;
  readonly foresight: Foresight;
  readonly minutes: Minutes;
  readonly pauses: Pauses;
  readonly models: Map<ModelName, ModelEntry>;
  readonly backlog: Backlog;
  /** Every job that is not final, by id. */
  readonly live: Map<JobId, LiveJob>;
  /** Free memory of a device in GiB; null when it cannot be asked for. */
  freeGiB(device: DeviceId): Promise<number | null>;
  /** Reads a spooled body. */
  openBody(uri: string): AsyncIterable<Uint8Array>;
  /** Asks for a pass. `arrival` and `load` also count in the founding essay's ticks. */
  wake(reason: WakeReason): void;
  /** Ends the process's usefulness: a fault that only a restart mends. */
  fatal(error: unknown): void;
}

export type WakeReason = "arrival" | "load" | "completion" | "change" | "time";

export function residencyOf(
  instance: Instance,
  backend: Backend,
  devices: readonly DeviceId[],
  sinceMs: number,
  forced: boolean,
): Residency {
  return {
    instance,
    backend,
    sinceMs,
    idleSinceMs: null,
    dispatched: 0,
    forced,
    running: new Map(),
    progressAtMs: sinceMs,
    work: new WorkMeter(sinceMs),
    devices,
    leaving: false,
    emptied: null,
  };
}

export function slotsFree(entry: ModelEntry, residency: Residency): number {
  return entry.spec.concurrency - residency.running.size;
}

/** Counts the work done until now; to be called before what runs on it changes. */
export function noteWork({ learned }: ModelEntry, { work, running }: Residency, nowMs: number): WorkMark {
  work.advance(running.size, learned.service.slowdownPerJob, nowMs);
  return { workMs: work.workMs, company: Math.max(0, running.size - 1) };
}

/** A run that began there has succeeded now. */
export function learnWork(entry: ModelEntry, residency: Residency, began: WorkMark, nowMs: number): void {
  const { workMs } = noteWork(entry, residency, nowMs);
  entry.learned.service.ran(workMs - began.workMs, began.company);
}

/** How long its next load will take, by what there is of it already. */
export function expectedLoadMs({ learned, backend, spec }: ModelEntry): number {
  return learned.loadMs(backend.nextTier?.(spec.name));
}

export function noticedOf({ models }: Pick<EngineWorld, "models">, live: LiveJob): Noticed {
  const entry = models.get(live.model);
  const wentFirst = entry === undefined ? null : wentFirstOf(live, entry.starts);
  return { firstByteAtMs: live.firstByteAtMs, wentFirst };
}
