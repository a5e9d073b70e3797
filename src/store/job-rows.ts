// The list of jobs as operators filter it: pages along an index, and a bound on how many rows are looked at for one.

import type { Band } from "../domain/band.ts";
import type { CallerId, JobId, ModelName } from "../domain/ids.ts";
import type { Job, JobStatus } from "../domain/job.ts";
import type { Cause, Wait } from "../domain/wait.ts";

export interface JobRowQuery {
  /** Null: everybody's. */
  readonly caller: CallerId | null;
  readonly status?: readonly JobStatus[];
  readonly model?: ModelName;
  readonly band?: Band;
  /** What took most of a final job's wait. A queued one has it if its model is among `models`. */
  readonly cause?: { readonly cause: Cause; readonly models: readonly ModelName[] };
  /** How the id begins, or the caller's own id of the request, exactly. */
  readonly text?: { readonly idPrefix: string } | { readonly requestId: string };
  /** Accepted in this range of router time; its end is excluded. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** The page begins behind this one. */
  readonly after?: JobId;
  readonly limit: number;
}

export interface JobRowPage {
  /** Newest first, or longest wait first. */
  readonly jobs: readonly Job[];
  /** There may be more behind `last`. */
  readonly more: boolean;
  /** Where the next page begins; null: nothing was looked at. */
  readonly last: JobId | null;
  /** Rows were looked at back to this instant of router time, and no further; null: the bound was not met. */
  readonly scannedToMs: number | null;
}

export interface JobRowVerbs {
  /** The newest stretches of a model's queue, oldest first. */
  lastWaits(model: ModelName, limit: number): Promise<readonly Wait[]>;
  newest(query: JobRowQuery): Promise<JobRowPage>;
  /** What still lives has waited until `nowMs`. Live jobs that were accepted before the range are among them. */
  longest(query: JobRowQuery & { readonly fromMs: number }, nowMs: number): Promise<JobRowPage>;
}
