// One move of a device from what is resident to what shall be, and what it may do to jobs on the way.

import type { DecisionId, ModelName } from "../domain/ids.ts";
import type { LiveJob } from "./live-job.ts";
import type { ModelEntry } from "./state.ts";

export interface Move {
  readonly load: ModelName | null;
  /** Interrupt what runs instead of draining it. */
  readonly force: boolean;
  readonly onDemand: boolean;
  readonly forced: boolean;
  readonly swap: boolean;
  readonly decision: DecisionId | null;
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
  readonly evict: ModelName | null;
  readonly sinceMs: number;
  phaseSinceMs: number;
  /** Nobody wants it any more. */
  readonly calledOff: AbortController;
  progress: { readonly phase: string; readonly progress: number | null } | null;
}
