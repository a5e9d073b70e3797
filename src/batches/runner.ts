// Batches on their way: validated one at a time, fed to the queue a window at a time and in turn, settled one at a time.
// Memory holds counts and the ids of jobs that are out; everything else lies in the store, so a start is a reload.

import { type Batch, isBatchFinal } from "../domain/batch.ts";
import type { Clock } from "../domain/clock.ts";
import { SirError } from "../domain/errors.ts";
import type { Emit, RouterEvent } from "../domain/event.ts";
import type { BatchId, IdSource, JobId } from "../domain/ids.ts";
import type { EngineControl } from "../engine/control.ts";
import type { ModelDirectory } from "../intake/models.ts";
import { type Store, StoreError } from "../store/store.ts";
import { Feeder } from "./feed.ts";
import type { FileBytes } from "./files.ts";
import { OpenBatch } from "./open-batch.ts";
import { settle } from "./settle.ts";
import { validate } from "./validate.ts";

const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** The queue is full, or the router is drained: looked at again so soon. */
const LOOK_AGAIN_MS = 1_000;

export interface BatchRunnerSettings {
  readonly maxLines: number;
  readonly fileTtlMs: number;
  readonly bodyLimitBytes: number;
  /** Queued jobs over all models; batches take no more than half of it. */
  readonly maxQueued: number;
}

export interface BatchRunnerDeps {
  readonly store: Pick<Store, "batches" | "result">;
  readonly engine: EngineControl;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly bytes: FileBytes;
  readonly models: ModelDirectory;
  readonly settings: BatchRunnerSettings;
  readonly emit: Emit;
}

export class BatchRunner {
  readonly #deps: BatchRunnerDeps;
  readonly #feeder: Feeder;
  readonly #open = new Map<BatchId, OpenBatch>();
  readonly #byJob = new Map<JobId, OpenBatch>();
  readonly #tasks = new Map<"validating" | "settling", Promise<void>>();
  readonly #stopping = new AbortController();
  #turn = 0;
  #scheduled = false;
  #pumping: Promise<void> | null = null;

  constructor(deps: BatchRunnerDeps) {
    this.#deps = deps;
    this.#feeder = new Feeder(
      deps,
      () => this.#open.values(),
      (job, open) => this.#byJob.set(job, open),
    );
  }

  /** Takes up what an earlier router left. To be called when the engine has recovered. */
  async start(): Promise<void> {
    for (const batch of await this.#deps.store.batches.open()) await this.adopt(batch);
  }

  /** A batch that is new, or was left behind. */
  async adopt(batch: Batch): Promise<void> {
    const open = new OpenBatch(batch);
    open.isStale = true;
    this.#open.set(batch.id, open);
    this.#announce(batch);
    this.#deps.clock.at(batch.deadlineMs, () => this.wake());
    this.wake();
  }

  /** Its status was changed by somebody else. */
  changed(batch: Batch): void {
    const open = this.#open.get(batch.id);
    if (open === undefined || open.batch.status === batch.status) return;
    this.#become(open, batch);
    this.wake();
  }

  /** Lines that are not queued yet, by model. */
  waiting(): ReadonlyMap<string, number> {
    const lines = new Map<string, number>();
    for (const open of this.#open.values()) {
      for (const model of open.models()) lines.set(model, (lines.get(model) ?? 0) + open.waitingOf(model));
    }
    return lines;
  }

  listen(event: RouterEvent): void {
    if (event.type !== "job.finished") return;
    const open = this.#byJob.get(event.job);
    if (open === undefined) return;
    this.#byJob.delete(event.job);
    open.drop(event.job);
    if (open.out === 0 || open.waiting > 0) this.wake();
  }

  /** Once everything that is ready has happened: one round, however many reasons. */
  wake(): void {
    if (this.#scheduled || this.#stopping.signal.aborted) return;
    this.#scheduled = true;
    this.#deps.clock.soon(() => {
      this.#scheduled = false;
      this.#pumping = (this.#pumping ?? Promise.resolve()).then(() => this.#round());
    });
  }

  /** Starts nothing more and lets go of the store. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#pumping;
    await Promise.all(this.#tasks.values());
  }

  async #round(): Promise<void> {
    const all = [...this.#open.values()];
    const first = all.length === 0 ? 0 : this.#turn++ % all.length;
    let isHeldUp = false;
    for (const open of [...all.slice(first), ...all.slice(0, first)]) {
      if (this.#stopping.signal.aborted) return;
      if (open.isBusy || open.notBeforeMs > this.#deps.clock.nowMs()) continue;
      await this.#guard(open, async () => {
        if (await this.#step(open)) isHeldUp = true;
      });
    }
    if (isHeldUp) this.#wakeIn(LOOK_AGAIN_MS);
  }

  /** True: it would go on, but there is no room in the queue. */
  async #step(open: OpenBatch): Promise<boolean> {
    if (open.isStale) await this.#feeder.reload(open);
    const { status } = open.batch;
    if (isBatchFinal(status)) this.#become(open, open.batch);
    if (status === "validating") this.#begin("validating", open, () => this.#validate(open));
    else if (status === "finalizing") this.#begin("settling", open, () => this.#settle(open));
    else if (status === "cancelling") {
      await Promise.all(open.jobs().map((job) => this.#deps.engine.cancel(job, "client")));
      if (open.out === 0) this.#begin("settling", open, () => this.#settle(open));
    } else if (status === "in_progress") {
      const isOver = this.#deps.clock.nowMs() >= open.batch.deadlineMs;
      if (open.out === 0 && (isOver || open.waiting === 0)) await this.#finalize(open);
      else if (!isOver) return this.#feeder.feed(open);
    }
    return false;
  }

  async #finalize(open: OpenBatch): Promise<void> {
    this.#become(open, await this.#deps.store.batches.finalize(open.batch.id));
    this.wake();
  }

  async #validate(open: OpenBatch): Promise<void> {
    const { store, bytes, models, settings } = this.#deps;
    const { id, endpoint, inputUri } = open.batch;
    const modelOf = (name: string): string => {
      try {
        return models.resolve(name).name;
      } catch (error) {
        if (error instanceof SirError) return name;
        throw error;
      }
    };
    const verdict = await validate(bytes.open(inputUri), { ...settings, endpoint, modelOf }, async (lines) => {
      if (this.#stopping.signal.aborted) return false;
      return store.batches.index(id, lines);
    });
    if (verdict.kind === "stopped") return;
    if (verdict.kind === "faulty") {
      this.#become(open, await store.batches.fail(id, verdict.faults));
      return;
    }
    this.#become(open, await store.batches.begin(id, verdict.total));
    open.isStale = true;
  }

  async #settle(open: OpenBatch): Promise<void> {
    const { store, bytes, ids, settings } = this.#deps;
    const { fileTtlMs } = settings;
    this.#become(open, await settle(open.batch, { store, bytes, ids, fileTtlMs, stopping: this.#stopping.signal }));
  }

  /** Null: it changed in the meantime; its own row says how. */
  #become(open: OpenBatch, batch: Batch | null): void {
    if (batch === null) {
      open.isStale = true;
      return;
    }
    open.batch = batch;
    if (isBatchFinal(batch.status)) this.#open.delete(batch.id);
    this.#announce(batch);
  }

  #announce({ id, status, total, completed, failed }: Batch): void {
    this.#deps.emit({ type: "batch.changed", batch: id, status, total, completed, failed });
  }

  /** One of its kind at a time; the next one waits for its turn. */
  #begin(kind: "validating" | "settling", open: OpenBatch, act: () => Promise<void>): void {
    if (this.#tasks.has(kind)) return;
    open.isBusy = true;
    const done = this.#guard(open, act).then(() => {
      open.isBusy = false;
      this.#tasks.delete(kind);
      this.wake();
    });
    this.#tasks.set(kind, done);
  }

  /** What failed is tried again later, from what the store knows. */
  async #guard(open: OpenBatch, act: () => Promise<void>): Promise<void> {
    try {
      await act();
      open.retryMs = RETRY_FIRST_MS;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      if (error instanceof StoreError && error.outcome === "unknown") this.#deps.engine.reconcile();
      const detail = error instanceof Error ? error.message : String(error);
      this.#deps.emit({ type: "batch.stalled", batch: open.batch.id, detail });
      open.isStale = true;
      open.notBeforeMs = this.#deps.clock.nowMs() + open.retryMs;
      this.#wakeIn(open.retryMs);
      open.retryMs = Math.min(RETRY_MAX_MS, open.retryMs * 2);
    }
  }

  #wakeIn(ms: number): void {
    const { clock } = this.#deps;
    clock.at(clock.nowMs() + ms, () => this.wake());
  }
}
