// `GET /v1/jobs/{id}/explain`: where the job's time went. It is no poll, and renews no lease.

import type { Decision } from "../domain/decision.ts";
import { SirError } from "../domain/errors.ts";
import type { ModelName } from "../domain/ids.ts";
import { isFinal } from "../domain/job.ts";
import { readExplanation } from "../explain/read.ts";
import { StoreError } from "../store/store.ts";
import { mayObserve, seenJob } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { onlyKnown } from "./query.ts";
import { withWireStatus } from "./status-words.ts";

/** The same document as `sir explain` and the job's page, also for a live job. */
export async function explainJob(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, []);
  const seen = await seenJob(c, world);
  // What is told holds after a crash too: it goes to the instant that the store will know that this router lived.
  const nowMs = world.clock.nowMs();
  if (!isFinal(seen.state.status)) await written(world);
  const job = await seenJob(c, world);
  const explanation = await readExplanation(world.store, job.id, {
    nowMs,
    label: (model: ModelName) => world.engine.model(model)?.label ?? model,
    place: job.state.status === "queued" ? await world.engine.queue.place(job) : null,
    noticed: world.engine.latest.noticed(job.id),
    inForce: isFinal(job.state.status) ? [] : inForce(world),
    observes: mayObserve(c),
  });
  if (explanation === null) {
    throw new SirError("job_not_found", "There is no such job; it may have been removed after its time.");
  }
  return c.json(withWireStatus(explanation), 200, { "cache-control": "no-store" });
}

/** Decisions in force: what is stored of them is up to half a minute old. */
function inForce(world: HttpWorld): Decision[] {
  return world.engine
    .status()
    .devices.flatMap(({ decision, looks }) => (decision === null || looks === null ? [] : [{ ...decision, looks }]));
}

/** What is known of a live job may still be on its way to the disk; what cannot be written is not waited for. */
async function written(world: HttpWorld): Promise<void> {
  try {
    await world.store.ping();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
