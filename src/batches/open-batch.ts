// A batch that is not final, in memory: which of its jobs are out, and how many lines of each model still wait.

import type { Batch } from "../domain/batch.ts";
import type { JobId, ModelName } from "../domain/ids.ts";

export class OpenBatch {
  batch: Batch;
  /** What memory says of it must be read anew. */
  isStale = false;
  /** It is being validated or settled. */
  isBusy = false;
  notBeforeMs = 0;
  retryMs = 1_000;
  readonly #out = new Map<JobId, string>();
  readonly #outByModel = new Map<string, number>();
  #waiting = new Map<string, number>();

  constructor(batch: Batch) {
    this.batch = batch;
  }

  get out(): number {
    return this.#out.size;
  }

  get waiting(): number {
    let total = 0;
    for (const lines of this.#waiting.values()) total += lines;
    return total;
  }

  jobs(): readonly JobId[] {
    return [...this.#out.keys()];
  }

  /** Models with waiting lines. */
  models(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** Models with waiting lines or jobs that are out. */
  known(): readonly string[] {
    return [...new Set([...this.#waiting.keys(), ...this.#outByModel.keys()])];
  }

  waitingOf(model: string): number {
    return this.#waiting.get(model) ?? 0;
  }

  outOf(model: string): number {
    return this.#outByModel.get(model) ?? 0;
  }

  setWaiting(waiting: ReadonlyMap<string, number>): void {
    this.#waiting = new Map([...waiting].filter(([, lines]) => lines > 0));
  }

  /** @param line The model as its line has it, which its job may know by another name. */
  sent(line: string, count: number): void {
    const left = this.waitingOf(line) - count;
    if (left > 0) this.#waiting.set(line, left);
    else this.#waiting.delete(line);
  }

  track(job: JobId, model: ModelName | string): void {
    if (this.#out.has(job)) return;
    this.#out.set(job, model);
    this.#outByModel.set(model, this.outOf(model) + 1);
  }

  /** The job is final. */
  drop(job: JobId): void {
    const model = this.#out.get(job);
    if (model === undefined) return;
    this.#out.delete(job);
    const left = this.outOf(model) - 1;
    if (left > 0) this.#outByModel.set(model, left);
    else this.#outByModel.delete(model);
  }
}
