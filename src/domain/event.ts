// Everything worth logging, counting or showing. The engine emits; log, metrics and HTTP listen.

import type { Band } from "./band.ts";
import type { BatchStatus } from "./batch.ts";
import type { Decision } from "./decision.ts";
import type { BatchId, DeviceId, InstanceId, JobId, ModelName } from "./ids.ts";
import type { CancelReason, Dispatch, JobError } from "./job.ts";
import type { Pause } from "./pause.ts";
import type { Tuning } from "./tuning.ts";

export type LoadOutcome = "ready" | "failed" | "timeout" | "abandoned";
/**
 * How much of a model is there already: nothing on this machine, its files, its files in the page cache, or a sleeping
 * engine. Each takes its own time, and is learned apart.
 */
export type LoadTier = "download" | "cold" | "warm" | "wake";
/** What a device does; its seconds are counted by this. */
export type DevicePhase = "empty" | "idle" | "serving" | "loading" | "draining" | "unloading" | "blocked";

export type RouterEvent =
  | {
      readonly type: "job.accepted";
      readonly job: JobId;
      readonly model: ModelName;
      readonly band: Band;
      readonly durable: boolean;
    }
  | {
      readonly type: "job.dispatched";
      readonly job: JobId;
      readonly model: ModelName;
      readonly band: Band;
      readonly priority: number;
      readonly attempt: number;
      readonly dispatch: Dispatch;
    }
  | { readonly type: "job.first_byte"; readonly job: JobId; readonly model: ModelName }
  | {
      readonly type: "job.requeued";
      readonly job: JobId;
      readonly model: ModelName;
      readonly charge: "attempt" | "interruption" | "none";
      readonly detail: string;
    }
  | {
      readonly type: "job.finished";
      readonly job: JobId;
      readonly model: ModelName;
      readonly band: Band;
      readonly status: "succeeded" | "failed" | "cancelled" | "expired";
      readonly reason: CancelReason | null;
      readonly error: JobError | null;
      /** From acceptance to the first dispatch, or to the end when it never ran. */
      readonly waitMs: number;
      /** Of the last attempt; 0 when it never ran. */
      readonly runMs: number;
    }
  | {
      /** The first estimate that its caller was told, of its start or of its answer, against what came. */
      readonly type: "job.estimated";
      readonly of: "start" | "answer";
      readonly job: JobId;
      readonly model: ModelName;
      readonly band: Band;
      readonly estimatedMs: number;
      readonly actualMs: number;
      /** Inside the stated range; null when none was stated. */
      readonly hit: boolean | null;
    }
  | { readonly type: "job.stale_outcome"; readonly job: JobId; readonly model: ModelName }
  | { readonly type: "decision"; readonly decision: Decision }
  | {
      /** A load was seen to take more of the device than the configuration claims for it. */
      readonly type: "memory.over_claim";
      readonly model: ModelName;
      readonly device: DeviceId;
      readonly claimedGiB: number;
      readonly measuredGiB: number;
    }
  /** A policy in shadow would have done something else; `stay` is to hold or to idle. */
  | {
      readonly type: "shadow.disagreed";
      readonly device: DeviceId;
      readonly policy: string;
      readonly done: "move" | "stay";
      readonly wished: "move" | "stay";
    }
  /** An operator paused something, or with `toMs` let it go on. */
  | { readonly type: "pause"; readonly pause: Pause }
  /** Tuned settings entered a state, see `Tuning`. */
  | { readonly type: "tuning"; readonly tuning: Tuning }
  | { readonly type: "device.blocked"; readonly device: DeviceId; readonly detail: string; readonly untilMs: number }
  | { readonly type: "instance.stuck"; readonly model: ModelName; readonly device: DeviceId; readonly restart: boolean }
  | {
      readonly type: "instance.adopted";
      readonly model: ModelName;
      readonly device: DeviceId;
      readonly instance: InstanceId;
    }
  | {
      readonly type: "load.started";
      readonly model: ModelName;
      readonly device: DeviceId;
      readonly instance: InstanceId;
    }
  | {
      readonly type: "load.progress";
      readonly model: ModelName;
      readonly device: DeviceId;
      readonly phase: string;
      readonly progress: number | null;
    }
  | {
      readonly type: "load.finished";
      readonly model: ModelName;
      readonly device: DeviceId;
      readonly instance: InstanceId;
      readonly outcome: LoadOutcome;
      readonly tookMs: number;
      readonly detail: string | null;
    }
  | {
      readonly type: "unload.finished";
      readonly model: ModelName;
      readonly device: DeviceId;
      readonly tookMs: number;
      readonly memory: "free" | "unknown";
      /** True: to make room for another model. */
      readonly swap: boolean;
    }
  | { readonly type: "drain.overdue"; readonly model: ModelName; readonly device: DeviceId; readonly aborted: number }
  | {
      readonly type: "instance.lost";
      readonly model: ModelName;
      readonly device: DeviceId | null;
      readonly detail: string;
    }
  | { readonly type: "device.phase"; readonly device: DeviceId; readonly phase: DevicePhase; readonly atMs: number }
  | {
      readonly type: "breaker";
      readonly model: ModelName;
      readonly state: "closed" | "open" | "half_open";
      readonly retryAtMs: number | null;
    }
  | {
      readonly type: "batch.changed";
      readonly batch: BatchId;
      readonly status: BatchStatus;
      readonly total: number;
      readonly completed: number;
      readonly failed: number;
    }
  | {
      readonly type: "webhook.attempted";
      /** Host and port; the rest of the address may be a secret. */
      readonly endpoint: string;
      readonly event: string;
      readonly id: string;
      readonly attempt: number;
      /** `gone`: it answered 410 and is sent nothing more. `unknown`: the store did not take the outcome. */
      readonly outcome: "delivered" | "failed" | "gone" | "given_up" | "unknown";
      readonly status: number | null;
      readonly detail: string | null;
      readonly tookMs: number;
    }
  | { readonly type: "batch.stalled"; readonly batch: BatchId; readonly detail: string }
  /** What was loaded ahead of need was used, or not in time. */
  | {
      readonly type: "preload";
      readonly model: ModelName;
      readonly source: "hint" | "cron" | "daily";
      readonly outcome: "hit" | "miss";
    }
  /** A learned expectation came true, or not; nothing need have been loaded for it. */
  | {
      readonly type: "prediction";
      readonly model: ModelName;
      readonly source: "cron" | "daily";
      readonly outcome: "hit" | "miss";
    }
  | { readonly type: "store.unavailable"; readonly verb: string; readonly detail: string }
  | { readonly type: "recovered"; readonly requeued: number; readonly poisoned: number; readonly dropped: number };

export type Emit = (event: RouterEvent) => void;
