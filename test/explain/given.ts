// Lives to explain, made up: a job with its attempts, the stretches of its model's queue, the gaps between routers.

import type { Decision, Scored } from "../../src/domain/decision.ts";
import { DEFAULT_POOL, type DecisionId, type DeviceId, type JobId, type ModelName } from "../../src/domain/ids.ts";
import type { Job, JobState } from "../../src/domain/job.ts";
import type { Try } from "../../src/domain/life.ts";
import type { QueueCause, Wait } from "../../src/domain/wait.ts";
import { acceptedJob } from "../../src/store/sqlite/job-row.ts";
import { MODEL, newJob, OTHER_MODEL } from "../store/given.ts";

export { MODEL, OTHER_MODEL };
export const START_MS = 1_790_000_000_000;
export const GPU = "gpu0" as DeviceId;

/** Accepted at `START_MS`; a state without an end is a live job's. */
export function jobIn(state: JobState, over: Partial<Job> = {}): Job {
  const at = { atMs: START_MS, wallMs: START_MS };
  const made = acceptedJob(newJob(), at, { kind: "aging", msPerPoint: 60_000 }, true);
  return { ...made, state, ...over };
}

export const queued: JobState = { status: "queued" };
export const succeeded = (startedMs: number, finishedMs: number): JobState => ({
  status: "succeeded",
  startedAtMs: START_MS + startedMs,
  finishedAtMs: START_MS + finishedMs,
});

/** From and to are ms after the start. */
export function waitOf(cause: QueueCause, fromMs: number, toMs: number | null, over: Partial<Wait> = {}): Wait {
  const none = { rule: null, by: null, device: null, decision: null };
  const to = toMs === null ? null : START_MS + toMs;
  return { model: MODEL, cause, ...none, fromMs: START_MS + fromMs, toMs: to, ...over };
}

export function tryOf(attempt: number, fromMs: number, toMs: number | null, over: Partial<Try> = {}): Try {
  const ended = toMs === null ? null : START_MS + toMs;
  const none = { firstByteAtMs: null, outcome: toMs === null ? null : "failed", detail: null, runAfterMs: null };
  return { attempt, startedAtMs: START_MS + fromMs, endedAtMs: ended, ...none, ...over };
}

export function decisionOf(id: string, atMs: number, over: Partial<Decision> = {}): Decision {
  const scored = (model: ModelName, score: number): Scored => ({
    ...{ model, score, depth: 1, oldestWaitMs: 1_000, priority: 1, terms: {}, switchCost: 0 },
    ...{ eligible: true, whyNot: null },
  });
  return {
    ...{ id: id as DecisionId, pool: DEFAULT_POOL, policy: "model-score", device: GPU },
    ...{ kind: "hold", reason: "resident_wins", guard: null, load: null, evict: [] },
    atMs: START_MS + atMs,
    wallMs: START_MS + atMs,
    resident: [{ model: OTHER_MODEL, forMs: 1_000, idleMs: 0 }],
    models: [scored(MODEL, 2), scored(OTHER_MODEL, 9)],
    jobs: ["job_of_somebody_else" as JobId],
    nextLookAtMs: null,
    sentence: "Kept beta.",
    ...over,
  };
}
