// A poll by a job's owner: the proof that somebody still wants the answer.

import type { Clock } from "../domain/clock.ts";
import { SirError } from "../domain/errors.ts";
import { type CallerId, type JobId, parseJobId } from "../domain/ids.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { EngineControl } from "../engine/control.ts";
import type { Store } from "../store/store.ts";

const NOTE_EVERY_MS = 1000;

interface PollDeps {
  readonly store: Pick<Store, "job" | "notePolls">;
  readonly engine: Pick<EngineControl, "renew">;
  readonly clock: Clock;
}

/**
 * The job as committed; a live one's full lease starts anew. Ill-formed, unknown and foreign ids are all the same 404.
 * @throws {SirError} job_not_found
 */
export type Poll = (id: string, caller: CallerId) => Promise<Job>;

/** The store hears of polls once a second at most, however often a job is polled. */
export function createPoll(deps: PollDeps): Poll {
  let polled = new Set<JobId>();
  const flush = (): void => {
    const ids = [...polled];
    polled = new Set();
    deps.store.notePolls(ids);
  };
  const note = (id: JobId): void => {
    if (polled.size === 0) deps.clock.at(deps.clock.nowMs() + NOTE_EVERY_MS, flush);
    polled.add(id);
  };
  return async (text, caller) => {
    const id = parseJobId(text);
    const job = id === null ? null : await deps.store.job(id);
    if (job === null || job.caller !== caller) {
      throw new SirError("job_not_found", "There is no such job; it may have been removed after its time.");
    }
    if (!isFinal(job.state.status)) {
      deps.engine.renew(job.id);
      note(job.id);
    }
    return job;
  };
}
