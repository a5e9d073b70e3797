// What the engine keeps in memory of a job that is not final: a few words, because there may be a million of them.

import { type Band, bandOf } from "../domain/band.ts";
import type { JobId, ModelName } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Body } from "../store/store.ts";

/**
 * - `queued`: may be picked. `delayed`: waits for `runAfterMs`. `claiming`: picked, its claim is not committed yet.
 * - `running`: an attempt is on a slot. `settling`: the attempt is over, its outcome is not committed yet.
 * - `ending`: its cancel, lapse or failure is being committed.
 */
export type LivePhase = "queued" | "delayed" | "claiming" | "running" | "settling" | "ending";

export interface LiveJob {
  readonly id: JobId;
  readonly model: ModelName;
  readonly band: Band;
  readonly priority: number;
  /** Changes only with the policy. */
  rank: number;
  readonly acceptedAtMs: number;
  readonly deadlineAtMs: number | null;
  /** Becomes true when a synchronous request is kept (`keep`). */
  durable: boolean;
  readonly stream: boolean;
  runAfterMs: number;
  phase: LivePhase;
  /** False while its caller's socket is gone and may come back: it then causes, holds and finishes no load. */
  demand: boolean;
  /** Failed loads of its model when it was accepted: it fails once it has seen as many as the model allows. */
  readonly loadFailuresBefore: number;
  /** Only for jobs that are not durable: nobody else has them. */
  row: Job | null;
  body: Body | null;
  /** Ends the engine call. */
  abort: AbortController | null;
  /** When its attempt began; null: none has. */
  runningSinceMs: number | null;
  /** Of the attempt that runs: when the first byte of its answer came; null: none has. */
  firstByteAtMs: number | null;
  /** Jobs of its model that were started while it was queued, and those of higher bands; read by went-first.ts only. */
  wentFirst: number;
  wentFirstHigher: number;
  /** While its end is being committed: resolves when that is decided. */
  ending: Promise<void> | null;
}

export function liveJobOf(job: Job, body: Body | null, loadFailuresBefore: number): LiveJob {
  return {
    id: job.id,
    model: job.model,
    band: bandOf(job.priority),
    priority: job.priority,
    rank: job.rank,
    acceptedAtMs: job.acceptedAtMs,
    deadlineAtMs: job.deadlineAtMs,
    durable: job.durable,
    stream: job.stream,
    runAfterMs: job.runAfterMs,
    phase: "queued",
    demand: true,
    loadFailuresBefore,
    row: job.durable ? null : job,
    body,
    abort: null,
    runningSinceMs: null,
    firstByteAtMs: null,
    wentFirst: 0,
    wentFirstHigher: 0,
    ending: null,
  };
}

/** Read anew after an await: others write it meanwhile, and the compiler does not know. */
export function phaseOf(live: LiveJob): LivePhase {
  return live.phase;
}
