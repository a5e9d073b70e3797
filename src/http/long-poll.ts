// Waiting for a job that outlives the connection. The hold is the caller's interest: while it lasts the lease does not
// run, and whether it ends with an answer, in time or in a closed socket, the full lease starts anew.

import { isFinal, type Job } from "../domain/job.ts";
import type { HttpDeps } from "./deps.ts";

/** The job as it is when it becomes final, or after `waitMs`, whichever is first. 0: as it is now. */
export async function longPoll(deps: HttpDeps, job: Job, waitMs: number, left: AbortSignal): Promise<Job> {
  if (isFinal(job.state.status)) return job;
  if (waitMs <= 0) {
    deps.engine.renew(job.id);
    return job;
  }
  const hold = deps.engine.hold(job.id);
  try {
    const until = deps.closing === undefined ? left : AbortSignal.any([left, deps.closing.draining]);
    const final = await deps.engine.finished(job.id, deps.clock.nowMs() + waitMs, until);
    return final ?? (await deps.store.job(job.id)) ?? job;
  } finally {
    hold.release();
  }
}
