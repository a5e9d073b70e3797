// One move of a device from what is loaded to what shall be, and what it may do to jobs on the way.

import type { Decision } from "../domain/decision.ts";
import type { DecisionId, DeviceId, ModelName } from "../domain/ids.ts";
import type { LiveJob } from "./live-job.ts";
import type { ModelEntry, Residency } from "./state.ts";

export interface Move {
  readonly load: ModelName | null;
  /** What goes first; each drains and is stopped, whatever else the device does. */
  readonly evict: readonly ModelName[];
  /** Interrupt what runs instead of draining it. */
  readonly force: boolean;
  readonly onDemand: boolean;
  /** Nobody has asked yet: it gives way to work that comes before it is done. */
  readonly ahead?: boolean;
  readonly forced: boolean;
  readonly swap: boolean;
  readonly decision: DecisionId | null;
  /** The caller who asked for it by hand; absent: nobody did. */
  readonly askedBy?: string;
}

/** Takes a model out and brings in nothing. `decision` null: its engine is gone, and nobody decided that. */
export function exitOf(model: ModelName, force: boolean, decision: Decision | null = null): Move {
  const exit = { load: null, evict: [model], force, onDemand: false, forced: false, swap: false };
  const askedBy = decision?.askedBy;
  return { ...exit, decision: decision?.id ?? null, ...(askedBy === undefined ? {} : { askedBy }) };
}

/** What a device may do to jobs. */
export interface DeviceJobs {
  /** Aborts a running attempt so that its job is queued again. */
  interrupt(job: LiveJob): void;
  /** A load of this model failed: jobs that have seen too many fail with it. */
  loadFailed(entry: ModelEntry): void;
}

export interface ActiveMove extends Move {
  phase: "draining" | "unloading" | "loading";
  readonly leaving: readonly Residency[];
  /** Whose decision it was, and who may call it off. */
  readonly decider: DeviceId;
  readonly sinceMs: number;
  phaseSinceMs: number;
  /** Nobody wants it any more. */
  readonly calledOff: AbortController;
  progress: { readonly phase: string; readonly progress: number | null } | null;
}
