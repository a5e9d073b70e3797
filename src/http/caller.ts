// Who asks, and which jobs are theirs. One caller until keys exist.

import { SirError } from "../domain/errors.ts";
import { type CallerId, LOCAL_CALLER, parseJobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Call, HttpDeps } from "./deps.ts";

export function callerOf(_c: Call): CallerId {
  return LOCAL_CALLER;
}

/**
 * The job that the path names. Somebody else's is as unknown as one that never was.
 * @throws {SirError} job_not_found
 */
export async function ownJob(c: Call, deps: HttpDeps): Promise<Job> {
  const id = parseJobId(c.req.param("id") ?? "");
  const job = id === null ? null : await deps.store.job(id);
  if (job === null || job.caller !== callerOf(c)) {
    throw new SirError("job_not_found", "No such job. It may have been removed after its time, or the id is wrong.");
  }
  c.set("job", job.id);
  return job;
}
