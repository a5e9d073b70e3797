// A plain synchronous request becomes a durable job while it waits or runs: the store commits first, memory follows.

import type { JobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { EngineWorld } from "./state.ts";

/**
 * Null: it is over, or the store would not take it. Verbs reach the store in the order in which they were called, so the
 * epoch that memory knows now is the one that the row will have by then.
 */
export async function keepLive(
  { live: jobs, store }: EngineWorld,
  id: JobId,
  repeat: Uint8Array | null,
): Promise<Job | null> {
  const live = jobs.get(id);
  if (live === undefined) return null;
  if (live.durable) return store.job(id);
  const { row, body } = live;
  if (row === null || body === null) return null;
  const kept = await store.keep({ id, epoch: row.epoch, body, repeat });
  if (kept === null) return null;
  live.durable = true;
  live.row = null;
  live.body = null;
  return kept;
}
