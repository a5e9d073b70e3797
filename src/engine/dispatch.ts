// From the head of a queue onto a slot: durable jobs run once their claim is committed, plain synchronous ones at once.

import type { DecisionId, JobId } from "../domain/ids.ts";
import { type Dispatch, type Job, transition } from "../domain/job.ts";
import { type Authority, type Pick, StoreError } from "../store/store.ts";
import type { Attempts, Slot } from "./attempts.ts";
import type { DeviceUnit } from "./device.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { type LiveJob, phaseOf } from "./live-job.ts";
import { type EngineWorld, type ModelEntry, noteWork, type Residency, slotsFree } from "./state.ts";
import { leavesQueue } from "./went-first.ts";

/** What the scheduler had to say about the jobs that are started now. */
export interface DispatchReason {
  readonly decision: DecisionId | null;
  readonly score: number | null;
  /** Starts before the others, whatever its rank, if it is still queued. */
  readonly first: JobId | null;
  reorder(job: LiveJob): Dispatch["reorder"];
}

const CLAIM_RETRY_MS = 1_000;

export class Dispatcher {
  readonly #world: EngineWorld;
  readonly #authority: Authority;
  readonly #attempts: Attempts;
  readonly #lifecycle: Lifecycle;

  constructor(world: EngineWorld, authority: Authority, attempts: Attempts, lifecycle: Lifecycle) {
    this.#world = world;
    this.#authority = authority;
    this.#attempts = attempts;
    this.#lifecycle = lifecycle;
  }

  /** Starts up to `limit` of the model's next jobs; how many it did. */
  dispatch(
    entry: ModelEntry,
    residency: Residency,
    device: DeviceUnit | null,
    limit: number,
    reason: DispatchReason,
  ): number {
    const nowMs = this.#world.clock.nowMs();
    if (entry.holdOffUntilMs > nowMs) return 0;
    const durable: { slot: Omit<Slot, "job">; pick: Pick }[] = [];
    let started = 0;
    const urgent = reason.first === null ? undefined : this.#queued(reason.first, entry);
    while (started < limit && slotsFree(entry, residency) > 0) {
      const live = started === 0 && urgent !== undefined ? urgent : entry.queue.next();
      if (live === undefined) break;
      const dispatch: Dispatch = {
        decision: reason.decision,
        score: reason.score,
        queueWaitMs: Math.max(0, nowMs - live.acceptedAtMs),
        reorder: reason.reorder(live),
      };
      entry.queue.remove(live);
      leavesQueue(live, entry.starts);
      entry.starts.started(live.band);
      live.phase = "claiming";
      if (residency.running.size === 0) residency.progressAtMs = nowMs;
      noteWork(entry, residency, nowMs);
      residency.running.set(live.id, live);
      residency.dispatched++;
      started++;
      const slot = { live, entry, residency, device };
      const pick = { id: live.id, instance: residency.instance.instance, dispatch };
      if (live.durable) durable.push({ slot, pick });
      else this.#startVolatile(slot, pick);
    }
    if (durable.length > 0) this.#claim(durable);
    if (started > 0) device?.notePhase();
    return started;
  }

  #queued(id: JobId, entry: ModelEntry): LiveJob | undefined {
    const live = this.#world.live.get(id);
    return live?.phase === "queued" && live.model === entry.spec.name ? live : undefined;
  }

  #startVolatile(slot: Omit<Slot, "job">, pick: Pick): void {
    const { live } = slot;
    const { row } = live;
    this.#world.store.claim(this.#authority, [pick]).catch((error: unknown) => this.#unavailable(error));
    const atMs = this.#world.clock.nowMs();
    const { owner } = this.#authority;
    const state = row === null ? null : transition(row.state, { type: "claim", owner, instance: pick.instance, atMs });
    if (row === null || state === null) {
      this.#attempts.free(slot);
      return;
    }
    const job: Job = { ...row, state, epoch: row.epoch + 1, attempts: row.attempts + 1, dispatch: pick.dispatch };
    live.row = job;
    this.#begin({ ...slot, job });
  }

  #claim(picks: readonly { slot: Omit<Slot, "job">; pick: Pick }[]): void {
    const claimed = this.#world.store.claim(
      this.#authority,
      picks.map(({ pick }) => pick),
    );
    claimed.then(
      (rows) => {
        for (const [i, { slot }] of picks.entries()) {
          const job = rows[i] ?? null;
          if (job !== null && phaseOf(slot.live) === "claiming") this.#begin({ ...slot, job });
          else {
            this.#attempts.free(slot);
            this.#resync(slot.live);
          }
        }
      },
      (error: unknown) => {
        this.#unavailable(error);
        for (const { slot } of picks) {
          this.#attempts.free(slot);
          this.#later(slot.live);
        }
      },
    );
  }

  #begin(slot: Slot): void {
    const { live, job } = slot;
    if (job.dispatch !== null) {
      this.#world.emit({
        type: "job.dispatched",
        job: live.id,
        model: live.model,
        band: live.band,
        priority: live.priority,
        attempt: job.attempts,
        dispatch: job.dispatch,
      });
    }
    this.#world.changed({ type: "job", job });
    this.#attempts.start(slot);
  }

  /** The claim's outcome is not known: ask the store when it is back, and again until it answers. */
  #later(live: LiveJob): void {
    const { clock } = this.#world;
    clock.at(clock.nowMs() + CLAIM_RETRY_MS, () => {
      if (phaseOf(live) === "claiming") this.#resync(live);
    });
  }

  #resync(live: LiveJob): void {
    this.#lifecycle.resync(live).catch((error: unknown) => {
      this.#unavailable(error);
      this.#later(live);
    });
  }

  #unavailable(error: unknown): void {
    if (!(error instanceof StoreError)) this.#world.fatal(error);
    else this.#world.emit({ type: "store.unavailable", verb: "claim", detail: error.message });
  }
}
