// The ways in and out of the engine's memory: admission, the queue, the end. The store commits first; memory follows.

import { bandOf } from "../domain/band.ts";
import type { JobId } from "../domain/ids.ts";
import { isFinal, type Job, transition } from "../domain/job.ts";
import type { Body, End, Ended, Result } from "../store/store.ts";
import type { Leases } from "./leases.ts";
import { type LiveJob, liveJobOf, phaseOf } from "./live-job.ts";
import { RATE_HALF_LIFE_MS } from "./meters.ts";
import type { RelayHub } from "./relay-hub.ts";
import { type EngineWorld, type ModelEntry, noticedOf } from "./state.ts";
import { firstCount, joinsQueue, leavesQueue } from "./went-first.ts";

const CLAIM_SETTLES_MS = 1_000;

export class Lifecycle {
  readonly #world: EngineWorld;
  readonly #leases: Leases;
  readonly #relay: RelayHub;
  readonly #deadlines: { set(id: JobId, atMs: number): void; delete(id: JobId): void };
  readonly #watchers = new Map<JobId, Set<() => void>>();
  readonly #waiters = new Map<JobId, Set<(job: Job) => void>>();

  constructor(
    world: EngineWorld,
    parts: {
      leases: Leases;
      relay: RelayHub;
      deadlines: { set(id: JobId, atMs: number): void; delete(id: JobId): void };
    },
  ) {
    this.#world = world;
    this.#leases = parts.leases;
    this.#relay = parts.relay;
    this.#deadlines = parts.deadlines;
  }

  /** Takes a queued job into memory. Idempotent by id. Jobs of unknown models fail at once. */
  admit(job: Job, body: Body | null): void {
    if (this.#world.live.has(job.id) || isFinal(job.state.status)) return;
    const entry = this.#world.models.get(job.model);
    const live = liveJobOf(job, body, entry?.breaker.failures ?? 0);
    live.wentFirst = firstCount(live, this.#world.clock.nowMs());
    this.#world.live.set(job.id, live);
    this.#leases.grant(job.id, job.leaseMs, this.#world.clock.nowMs(), job.origin === "socket");
    if (job.deadlineAtMs !== null) this.#deadlines.set(job.id, job.deadlineAtMs);
    const { id, model, durable } = job;
    this.#world.emit({ type: "job.accepted", job: id, model, band: bandOf(job.priority), durable });
    this.#world.changed({ type: "job", job });
    if (entry === undefined || entry.removed) {
      const message = `Model "${model}" is no longer in the configuration.`;
      this.end(id, { type: "fail", error: { code: "model_not_found", message } }).catch(() => undefined);
      return;
    }
    const halfLifeMs = this.#world.settings.policy.rateHalfLifeMs ?? RATE_HALF_LIFE_MS;
    entry.arrivals.arrived(live.band, live.acceptedAtMs, halfLifeMs);
    this.#world.foresight.arrived(entry, live);
    this.enqueue(live, entry);
  }

  /** Into the queue, now or when its back-off is over. */
  enqueue(live: LiveJob, entry: ModelEntry): void {
    const { clock } = this.#world;
    if (live.runAfterMs <= clock.nowMs()) {
      live.phase = "queued";
      entry.queue.add(live);
      joinsQueue(live, entry.starts);
      this.#world.wake("arrival");
      return;
    }
    live.phase = "delayed";
    clock.at(live.runAfterMs, () => {
      if (live.phase === "delayed" && this.#world.live.has(live.id)) this.enqueue(live, entry);
    });
  }

  /** Out of the queue, before anything else may pick it; what it was before. */
  withdraw(live: LiveJob): LiveJob["phase"] {
    const before = live.phase;
    const entry = this.#world.models.get(live.model);
    if (before === "queued" && entry?.queue.remove(live) === true) leavesQueue(live, entry.starts);
    live.phase = "ending";
    return before;
  }

  /**
   * Commits the end, then aborts the engine call. A job that is final already is returned unchanged.
   * @throws {StoreError} nothing was changed (`unavailable`) or it may have been (`unknown`); the job goes on.
   */
  async end(id: JobId, end: End): Promise<Ended | null> {
    const live = this.#world.live.get(id);
    if (live === undefined) return this.#world.store.end(id, end);
    const before = live.phase === "ending" ? null : this.withdraw(live);
    const committed = this.#commitEnd(live, end, before);
    if (before !== null) {
      live.ending = committed.then(
        () => undefined,
        () => undefined,
      );
    }
    const ended = await committed;
    live.abort?.abort("ended");
    if (ended !== null) this.finalize(live, ended.job, null);
    return ended;
  }

  async #commitEnd(live: LiveJob, end: End, before: LiveJob["phase"] | null): Promise<Ended | null> {
    try {
      const noticed = noticedOf(this.#world, live);
      return (await this.#world.store.end(live.id, { ...end, noticed })) ?? this.#endedInMemory(live, end);
    } catch (error) {
      if (!live.durable) return this.#endedInMemory(live, end);
      if (before !== null) this.#putBack(live, before);
      throw error;
    }
  }

  /** Fails the queued jobs that have seen as many failed loads as the model allows. O(its queue), at a failed load only. */
  failUnloadable(entry: ModelEntry): void {
    const { breaker, spec, queue } = entry;
    for (const live of [...queue.jobs()]) {
      if (breaker.failures - live.loadFailuresBefore < spec.maxLoadFailures) continue;
      const message = `Model "${spec.name}" failed to load ${spec.maxLoadFailures} times while this job waited: ${breaker.lastError}`;
      this.end(live.id, { type: "fail", error: { code: "load_failed", message } }).catch((error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error);
        this.#world.emit({ type: "store.unavailable", verb: "end", detail });
      });
    }
  }

  /** The job is final and, if durable, committed: tells everyone and forgets it. */
  finalize(live: LiveJob, job: Job, result: Result | null): void {
    if (!this.#world.live.delete(live.id)) return;
    this.#leases.forget(live.id);
    this.#deadlines.delete(live.id);
    this.#relay.done(job, result);
    for (const settle of this.#waiters.get(live.id) ?? []) settle(job);
    this.#waiters.delete(live.id);
    this.notify(live.id);
    this.#watchers.delete(live.id);
    this.#emitFinished(job);
    this.#world.changed({ type: "job", job });
    this.#world.wake("completion");
  }

  /** Memory and store disagree about a job: the store is right. */
  async resync(live: LiveJob): Promise<void> {
    if (live.phase === "ending" || !this.#world.live.has(live.id)) return;
    const row = await this.#world.store.job(live.id);
    if (row === null || phaseOf(live) === "ending") return;
    if (isFinal(row.state.status)) {
      this.finalize(live, row, null);
      return;
    }
    const entry = this.#world.models.get(live.model);
    if (entry === undefined) return;
    if (row.state.status === "running") {
      // A claim whose commit was not acknowledged: nobody runs it, so it goes back, uncharged.
      if (live.phase !== "claiming") return;
      const fence = { id: row.id, epoch: row.epoch, owner: row.state.owner };
      const end = { firstByteAtMs: null, outcome: "interrupted", detail: "its claim was not acknowledged" };
      const back = await this.#world.store.requeue(fence, { charge: "none", delayMs: 0 }, end);
      if (back === null || phaseOf(live) !== "claiming") return;
    }
    live.runAfterMs = row.runAfterMs;
    this.enqueue(live, entry);
  }

  notify(id: JobId): void {
    for (const onChange of [...(this.#watchers.get(id) ?? [])]) onChange();
  }

  watch(id: JobId, onChange: () => void): () => void {
    return addTo(this.#watchers, id, onChange);
  }

  /** Resolves with the final row, or null at `untilMs` or when `signal` is aborted. */
  finished(id: JobId, untilMs: number, signal?: AbortSignal): Promise<Job | null> {
    if (!this.#world.live.has(id)) return this.#finalRow(id);
    return new Promise((resolve) => {
      const settle = (job: Job | null): void => {
        remove();
        timer.cancel();
        signal?.removeEventListener("abort", onAbort);
        resolve(job);
      };
      const onAbort = (): void => settle(null);
      const remove = addTo(this.#waiters, id, settle);
      const timer = this.#world.clock.at(untilMs, onAbort);
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) onAbort();
    });
  }

  async #finalRow(id: JobId): Promise<Job | null> {
    const job = await this.#world.store.job(id);
    return job !== null && isFinal(job.state.status) ? job : null;
  }

  #putBack(live: LiveJob, before: LiveJob["phase"]): void {
    live.phase = before;
    const entry = this.#world.models.get(live.model);
    if (entry === undefined) return;
    if (before === "queued" || before === "delayed") this.enqueue(live, entry);
    if (before !== "claiming") return;
    // Its claim may have been answered meanwhile, with nobody to take it up.
    const { clock, emit } = this.#world;
    clock.at(clock.nowMs() + CLAIM_SETTLES_MS, () => {
      if (phaseOf(live) !== "claiming") return;
      this.resync(live).catch((error: unknown) => {
        emit({ type: "store.unavailable", verb: "resync", detail: error instanceof Error ? error.message : "unknown" });
      });
    });
  }

  /** For a job that only this process has: the store could not, so memory says how it ended. */
  #endedInMemory(live: LiveJob, end: End): Ended | null {
    const row = live.row;
    if (row === null) return null;
    const atMs = this.#world.clock.nowMs();
    const event = end.type === "cancel" ? { ...end, atMs } : end.type === "fail" ? { ...end, atMs } : { ...end, atMs };
    const state = transition(row.state, event);
    if (state === null) return null;
    return { job: { ...row, epoch: row.epoch + 1, state }, changed: true, before: row.state.status };
  }

  #emitFinished(job: Job): void {
    const { state } = job;
    if (state.status === "queued" || state.status === "running") return;
    const startedAtMs = "startedAtMs" in state ? state.startedAtMs : null;
    this.#world.emit({
      type: "job.finished",
      job: job.id,
      model: job.model,
      band: bandOf(job.priority),
      status: state.status,
      reason: state.status === "cancelled" ? state.reason : null,
      error: state.status === "failed" ? state.error : null,
      waitMs: Math.max(0, (startedAtMs ?? state.finishedAtMs) - job.acceptedAtMs),
      runMs: startedAtMs === null ? 0 : Math.max(0, state.finishedAtMs - startedAtMs),
    });
  }
}

function addTo<T>(sets: Map<JobId, Set<T>>, id: JobId, item: T): () => void {
  const set = sets.get(id) ?? new Set<T>();
  sets.set(id, set.add(item));
  return () => {
    set.delete(item);
    if (set.size === 0 && sets.get(id) === set) sets.delete(id);
  };
}
