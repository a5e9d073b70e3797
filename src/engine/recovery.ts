// At boot, before anything is served: what dead routers were running goes back into the queue, what is queued comes into
// memory with a full lease of grace, and what was learned of loads is remembered.

import { type JobId, jobIdAt } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { LoadRecord } from "../domain/journal.ts";
import type { Authority } from "../store/store.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { LoadBook } from "./load-book.ts";
import type { EngineWorld } from "./state.ts";

const PAGE = 1_000;
/** Opening a store takes no longer, migrations aside. */
const START_MAX_MS = 600_000;
/** Of each model, for people to read; of the newest few its next load is guessed. */
const LOADS_REMEMBERED = 20;
const LOADS_LEARNED = 5;

/** Admits queued jobs accepted since `fromMs` that are not in memory; admission is idempotent. */
export async function reconcile(world: EngineWorld, lifecycle: Lifecycle, fromMs: number): Promise<void> {
  for (let after: JobId | null = jobIdAt(fromMs); after !== null; ) {
    const page: readonly Job[] = await world.store.live(after, PAGE);
    for (const job of page) if (job.durable && job.state.status === "queued") lifecycle.admit(job, null);
    after = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
  }
}

/**
 * When this router opened the store, to which an earlier one's absence is counted: what waits in it waited for us since.
 * Now, where there was no earlier one.
 */
export async function bootAtMs({ store, clock }: EngineWorld): Promise<number> {
  const nowMs = clock.nowMs();
  const gaps = await store.downtimes(nowMs - START_MAX_MS, nowMs);
  return gaps.at(-1)?.toMs ?? nowMs;
}

export async function recover(
  world: EngineWorld,
  authority: Authority,
  lifecycle: Lifecycle,
  book: LoadBook,
): Promise<void> {
  const { store, settings } = world;
  const dead = await store.deadOwners();
  const recovery = await store.recover(authority, dead, settings.maxInterruptions);
  await store.rerank(settings.policy.ranking);
  rememberLoads(world, book, await store.loads(LOADS_REMEMBERED));
  let after: JobId | null = null;
  for (;;) {
    const page = await store.live(after, PAGE);
    for (const job of page) lifecycle.admit(job, null);
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE || after === null) break;
  }
  world.emit({ type: "recovered", ...recovery });
}

/** @param loads Newest first. */
function rememberLoads(world: EngineWorld, book: LoadBook, loads: readonly LoadRecord[]): void {
  const older = new Map<string, number>();
  const learned: LoadRecord[] = [];
  for (const load of loads) {
    const before = older.get(load.model) ?? 0;
    older.set(load.model, before + 1);
    if (before < LOADS_LEARNED && load.tier !== null) learned.unshift(load);
  }
  for (const { model, startedAtMs, endedAtMs, tier } of learned) {
    if (tier !== null) world.models.get(model)?.learned.loaded(endedAtMs - startedAtMs, tier);
  }
  for (const { model, startedAtMs, endedAtMs, outcome, detail } of loads.toReversed()) {
    book.ended(model, { outcome, tookMs: endedAtMs - startedAtMs, atMs: endedAtMs, detail });
  }
}
