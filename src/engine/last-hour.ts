// What happened in the last hour, counted from events: jobs that ended, how long they had waited, what devices spent on
// swapping, how far estimates were off. Bounded memory for each model and device, whatever comes.

import type { DevicePhase, RouterEvent } from "../domain/event.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import { coveredMs, MinuteRing } from "./minute-ring.ts";
import { fieldsIn, numberIn } from "./note.ts";
import type { Page } from "./notebook.ts";
import { Sampled } from "./sampled.ts";

const SWAPPING: readonly DevicePhase[] = ["draining", "unloading", "loading"];
/** Fewer estimates than this have no median worth showing. */
const ENOUGH = 20;
/** Errors are shares of what came; of less than this they would be shares of nothing. */
const LEAST_MS = 1_000;

interface Swapping {
  /** Null: it does something else. */
  sinceMs: number | null;
  readonly spent: MinuteRing;
  readonly swaps: MinuteRing;
}

export class LastHour {
  readonly startedAtMs: number;
  /** Since when devices were watched, by this router or by those before it. */
  #watchedSinceMs: number;
  readonly #succeeded: MinuteRing;
  readonly #failed: MinuteRing;
  readonly #lapsed: MinuteRing;
  readonly #errors = new Sampled();
  readonly #waits = new Map<ModelName, Sampled>();
  readonly #devices = new Map<DeviceId, Swapping>();

  constructor(nowMs: number) {
    this.startedAtMs = nowMs;
    this.#watchedSinceMs = nowMs;
    this.#succeeded = new MinuteRing(nowMs);
    this.#failed = new MinuteRing(nowMs);
    this.#lapsed = new MinuteRing(nowMs);
  }

  hear(event: RouterEvent, nowMs: number): void {
    switch (event.type) {
      case "job.dispatched":
        if (event.attempt === 1) this.#waitsOf(event.model).add(nowMs, event.dispatch.queueWaitMs);
        return;
      case "job.finished":
        if (event.status === "succeeded") this.#succeeded.add(nowMs, 1);
        else if (event.status === "failed") this.#failed.add(nowMs, 1);
        else if (event.reason === "lease_expired") this.#lapsed.add(nowMs, 1);
        return;
      case "job.estimated":
        if (event.of === "answer") {
          this.#errors.add(nowMs, Math.abs(event.actualMs - event.estimatedMs) / Math.max(LEAST_MS, event.actualMs));
        }
        return;
      case "device.phase":
        this.#enter(event.device, event.phase, event.atMs);
        return;
      case "decision":
        if (event.decision.kind === "swap") this.#deviceOf(event.decision.device).swaps.add(nowMs, 1);
        return;
      default:
        return;
    }
  }

  /** Jobs that succeeded, that failed, and that nobody polled. */
  ended(nowMs: number): { readonly succeeded: number; readonly failed: number; readonly lapsed: number } {
    return {
      succeeded: this.#succeeded.sum(nowMs),
      failed: this.#failed.sum(nowMs),
      lapsed: this.#lapsed.sum(nowMs),
    };
  }

  /** Median; null below 20. */
  estimateError(nowMs: number): number | null {
    return this.#errors.quantile(1 / 2, nowMs, ENOUGH);
  }

  /** @param share 0 to 1. Of the model's newest 256 starts; null: none. */
  waitMs(model: ModelName, share: number, nowMs: number): number | null {
    return this.#waits.get(model)?.quantile(share, nowMs) ?? null;
  }

  /** The share of its time that a device spent on moves, 0 to 1, and how often it swapped. */
  swapping(device: DeviceId, nowMs: number): { readonly share: number; readonly swaps: number } {
    const { sinceMs, spent, swaps } = this.#deviceOf(device);
    if (sinceMs !== null) {
      spent.addSpan(sinceMs, nowMs);
      this.#deviceOf(device).sinceMs = nowMs;
    }
    const covered = coveredMs(nowMs, this.#watchedSinceMs);
    return { share: covered <= 0 ? 0 : Math.min(1, spent.sum(nowMs) / covered), swaps: swaps.sum(nowMs) };
  }

  /** An hour is an hour, also where a router ended in it; while none was there, nothing was done. */
  get page(): Page {
    return {
      key: "last hour",
      write: () => ({
        sinceMs: this.#watchedSinceMs,
        succeeded: this.#succeeded.noted(),
        failed: this.#failed.noted(),
        lapsed: this.#lapsed.noted(),
        devices: Object.fromEntries(
          [...this.#devices].map(([device, { spent, swaps }]) => [
            device,
            { spent: spent.noted(), swaps: swaps.noted() },
          ]),
        ),
      }),
      read: (note) => this.#recall(note),
    };
  }

  #recall(note: unknown): void {
    const { sinceMs, succeeded, failed, lapsed, devices } = fieldsIn(note);
    this.#watchedSinceMs = Math.min(this.#watchedSinceMs, numberIn(sinceMs) ?? Number.POSITIVE_INFINITY);
    this.#succeeded.recall(succeeded);
    this.#failed.recall(failed);
    this.#lapsed.recall(lapsed);
    for (const [device, fields] of Object.entries(fieldsIn(devices))) {
      const { spent, swaps } = fieldsIn(fields);
      this.#deviceOf(device as DeviceId).spent.recall(spent);
      this.#deviceOf(device as DeviceId).swaps.recall(swaps);
    }
  }

  #enter(device: DeviceId, phase: DevicePhase, atMs: number): void {
    const known = this.#deviceOf(device);
    if (known.sinceMs !== null) known.spent.addSpan(known.sinceMs, atMs);
    known.sinceMs = SWAPPING.includes(phase) ? atMs : null;
  }

  #deviceOf(device: DeviceId): Swapping {
    const known = this.#devices.get(device);
    if (known !== undefined) return known;
    const { startedAtMs } = this;
    const fresh = { sinceMs: null, spent: new MinuteRing(startedAtMs), swaps: new MinuteRing(startedAtMs) };
    this.#devices.set(device, fresh);
    return fresh;
  }

  #waitsOf(model: ModelName): Sampled {
    const known = this.#waits.get(model) ?? new Sampled();
    this.#waits.set(model, known);
    return known;
  }
}
