// Waiting for a job that outlives the connection. The hold is the caller's interest: while it lasts the lease does not
// run, and whether it ends with an answer, in time or in a closed socket, the full lease starts anew.

import { isFinal, type Job } from "../domain/job.ts";
import type { HttpWorld } from "./deps.ts";

/** The job as it is when it becomes final, or after `waitMs`, whichever is first. 0: as it is now. */
export async function longPoll(world: HttpWorld, job: Job, waitMs: number, left: AbortSignal): Promise<Job> {
  if (isFinal(job.state.status) || waitMs <= 0) return job;
  const hold = world.engine.hold(job.id);
  try {
    const until = world.closing === undefined ? left : AbortSignal.any([left, world.closing.draining]);
    const final = await world.engine.finished(job.id, world.clock.nowMs() + waitMs, until);
    return final ?? (await world.store.job(job.id)) ?? job;
  } finally {
    hold.release();
  }
}
