// Lines into jobs: the next few of a model, in one transaction with the note that they are jobs now, then into the queue.

import { BAND_ANCHOR } from "../domain/band.ts";
import type { Clock } from "../domain/clock.ts";
import { SirError } from "../domain/errors.ts";
import { DEFAULT_POOL, type IdSource, type JobId, type ModelName } from "../domain/ids.ts";
import type { EngineControl, ModelStatus } from "../engine/control.ts";
import type { ModelDirectory } from "../intake/models.ts";
import type { BatchLine, FedLine } from "../store/batch-verbs.ts";
import type { Store } from "../store/store.ts";
import type { FileBytes } from "./files.ts";
import type { OpenBatch } from "./open-batch.ts";
import { linesToFeed, type ModelLines, modelsInTurn, windowOf } from "./window.ts";

interface FeederDeps {
  readonly store: Pick<Store, "batches">;
  readonly engine: EngineControl;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly bytes: Pick<FileBytes, "slice">;
  readonly models: ModelDirectory;
  readonly settings: { readonly maxQueued: number };
}

export class Feeder {
  readonly #deps: FeederDeps;
  readonly #all: () => Iterable<OpenBatch>;
  readonly #onJob: (job: JobId, open: OpenBatch) => void;

  /** @param onJob Called before the job can end. */
  constructor(deps: FeederDeps, all: () => Iterable<OpenBatch>, onJob: (job: JobId, open: OpenBatch) => void) {
    this.#deps = deps;
    this.#all = all;
    this.#onJob = onJob;
  }

  /** Up to one commit of lines for each model whose window is half empty. True: there was no room for more. */
  async feed(open: OpenBatch): Promise<boolean> {
    const { store, engine } = this.#deps;
    for (const model of this.#modelsInTurn(open)) {
      const room = this.#room();
      const window = windowOf(engine.model(model as ModelName)?.concurrency ?? 1, this.#sharing(open, model));
      const count = linesToFeed(window, open.outOf(model), open.waitingOf(model), room);
      if (count === 0) {
        if (room === 0) return true;
        continue;
      }
      const lines = await store.batches.next(open.batch.id, model, count);
      const fed = await store.batches.feed(
        open.batch.id,
        lines.map((line) => this.#fedLine(open, line)),
      );
      if (fed === "storage_full") return true;
      if (fed === "stopped" || fed.length < count) {
        open.isStale = true;
        if (fed === "stopped") return false;
      }
      open.sent(model, fed.length);
      for (const job of fed) {
        open.track(job.id, model);
        this.#onJob(job.id, open);
      }
      for (const job of fed) engine.admit(job, null);
    }
    return false;
  }

  /** What the store knows of it: after a start, and after a write whose outcome nobody heard. */
  async reload(open: OpenBatch): Promise<void> {
    const { store, engine } = this.#deps;
    const { id, caller } = open.batch;
    const [batch, waiting, live] = await Promise.all([
      store.batches.get(caller, id),
      store.batches.waiting(id),
      store.batches.liveJobs(id),
    ]);
    if (batch !== null) open.batch = batch;
    open.setWaiting(waiting);
    for (const job of live) {
      open.track(job.id, job.model);
      this.#onJob(job.id, open);
      if (job.state.status === "queued") engine.admit(job, null);
    }
    const ids = new Set(live.map((job) => job.id));
    for (const job of open.jobs()) if (!ids.has(job)) open.drop(job);
    open.isStale = false;
  }

  #modelsInTurn(open: OpenBatch): string[] {
    const { models, devices } = this.#deps.engine.status();
    const status = new Map<string, ModelStatus>(models.map((each) => [each.spec.name, each]));
    const lines = open.known().map((model): ModelLines => {
      const known = status.get(model);
      return {
        ...{ model, waiting: open.waitingOf(model), out: open.outOf(model) },
        concurrency: known?.spec.concurrency ?? 1,
        state: known === undefined ? "free" : stateOf(known),
      };
    });
    return modelsInTurn(lines, devices.length);
  }

  /** Batches leave the other half of the queue to everybody else. */
  #room(): number {
    const { engine, settings } = this.#deps;
    if (engine.status().draining) return 0;
    return Math.max(0, Math.floor(settings.maxQueued / 2) - engine.queue.queuedTotal());
  }

  #sharing({ batch }: OpenBatch, model: string): number {
    let count = 0;
    for (const each of this.#all()) if (each.batch.caller === batch.caller && each.waitingOf(model) > 0) count++;
    return count;
  }

  #fedLine({ batch }: OpenBatch, { line, model, customId, ...place }: BatchLine): FedLine {
    const { ids, bytes, clock } = this.#deps;
    const job = {
      ...{ id: ids.next("job"), pool: DEFAULT_POOL, caller: batch.caller, model: this.#resolve(model) },
      ...{ endpoint: batch.endpoint, priority: BAND_ANCHOR.batch, stream: false, leaseMs: null },
      deadlineMs: Math.max(1, batch.deadlineMs - clock.nowMs()),
      ...{ traceparent: null, clientRequestId: null, idempotency: null },
      metadata: { batch_id: batch.id, custom_id: customId },
      body: {
        ...{ contentType: "application/json", headers: { accept: "application/json" } },
        ...{ sizeBytes: place.bodySize, sha256: place.sha256, modelSpan: place.modelSpan },
        source: { kind: "file", uri: bytes.slice(batch.inputUri, place.bodyStart, place.bodySize) },
      },
    } as const;
    return { line, job };
  }

  /** A model that was taken out of the configuration keeps its name: the engine fails its jobs. */
  #resolve(model: string): ModelName {
    try {
      return this.#deps.models.resolve(model).name;
    } catch (error) {
      if (error instanceof SirError) return model as ModelName;
      throw error;
    }
  }
}

function stateOf({ state, paused }: ModelStatus): ModelLines["state"] {
  if (state === "remote") return "free";
  if (paused || state === "broken") return "stuck";
  return state === "resident" || state === "loading" ? "ready" : "absent";
}
