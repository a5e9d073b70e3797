// Who asks, and which jobs are theirs. One caller until keys exist.

import { SirError } from "../domain/errors.ts";
import { type CallerId, LOCAL_CALLER, parseJobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Call, HttpWorld } from "./deps.ts";

export function callerOf(_c: Call): CallerId {
  return LOCAL_CALLER;
}

/**
 * The job that the path names. Somebody else's is as unknown as one that never was.
 * @throws {SirError} job_not_found
 */
export async function ownJob(c: Call, world: HttpWorld): Promise<Job> {
  const id = parseJobId(c.req.param("id") ?? "");
  const job = id === null ? null : await world.store.job(id);
  if (job === null || job.caller !== callerOf(c)) {
    throw new SirError("job_not_found", "There is no such job; it may have been removed after its time.");
  }
  c.set("job", job.id);
  return job;
}

/**
 * The same, as a poll: a live job's full lease starts anew.
 * @throws {SirError} job_not_found
 */
export async function polledJob(c: Call, world: HttpWorld): Promise<Job> {
  const job = await world.poll(c.req.param("id") ?? "", callerOf(c));
  c.set("job", job.id);
  return job;
}
