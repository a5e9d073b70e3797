// At boot, before anything is served: what dead routers were running goes back into the queue, what is queued comes into
// memory with a full lease of grace, and what was learned of loads is remembered.

import { type JobId, jobIdAt } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Authority } from "../store/store.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { EngineWorld } from "./state.ts";

const PAGE = 1_000;
const LOADS_REMEMBERED = 5;

/** Admits queued jobs accepted since `fromMs` that are not in memory; admission is idempotent. */
export async function reconcile(world: EngineWorld, lifecycle: Lifecycle, fromMs: number): Promise<void> {
  for (let after: JobId | null = jobIdAt(fromMs); after !== null; ) {
    const page: readonly Job[] = await world.store.live(after, PAGE);
    for (const job of page) if (job.durable && job.state.status === "queued") lifecycle.admit(job, null);
    after = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
  }
}

export async function recover(world: EngineWorld, authority: Authority, lifecycle: Lifecycle): Promise<void> {
  const { store, settings } = world;
  const dead = await store.deadOwners();
  const recovery = await store.recover(authority, dead, settings.maxInterruptions);
  await store.rerank(settings.policy.ranking);
  for (const load of (await store.loads(LOADS_REMEMBERED)).toReversed()) {
    if (load.tier === null) continue;
    world.models.get(load.model)?.learned.loaded(load.endedAtMs - load.startedAtMs, load.tier);
  }
  let after: JobId | null = null;
  for (;;) {
    const page = await store.live(after, PAGE);
    for (const job of page) lifecycle.admit(job, null);
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE || after === null) break;
  }
  world.emit({ type: "recovered", ...recovery });
}
