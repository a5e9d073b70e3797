// Limits on what is let in: queued jobs over all models, bodies being read at once, body bytes held in memory.

import { SirError } from "../domain/errors.ts";
import type { ModelName } from "../domain/ids.ts";
import type { EngineControl, ModelStatus } from "../engine/control.ts";

const RETRY_AFTER_MS = 5_000;
const DRAINING_RETRY_AFTER_MS = 10_000;

interface Admission {
  /** Before a body is read: refuses what could only be refused later. @throws {SirError} draining, queue_full */
  check(): void;
  /**
   * Takes a place before anything is awaited, so that requests that arrive together cannot all see the same last place.
   * Returns how to give it back: once the engine counts the job itself, or when there will be none.
   * @throws {SirError} queue_full
   */
  reserve(model: ModelName): () => void;
}

/**
 * A queued job that a free slot of a resident model is about to take does not count: the limit is on those that wait.
 */
export function createAdmission(engine: Pick<EngineControl, "queue" | "status">, maxQueued: number): Admission {
  const reserved = new Map<ModelName, number>();
  let reservedTotal = 0;

  const waiting = (): number => engine.queue.queuedTotal() + reservedTotal;
  const ahead = (model: ModelStatus): number =>
    model.queued.interactive + model.queued.normal + model.queued.batch + (reserved.get(model.spec.name) ?? 0);
  const leavingSoon = (models: readonly ModelStatus[]): number =>
    models.reduce((sum, model) => sum + Math.min(freeSlots(model), ahead(model)), 0);
  const hasSpareSlot = (model: ModelStatus): boolean => freeSlots(model) > ahead(model);

  return {
    check() {
      const { draining, models } = engine.status();
      if (draining) {
        throw new SirError("draining", "The router is being drained and takes no new work; try again later.", {
          retryAfterMs: DRAINING_RETRY_AFTER_MS,
        });
      }
      if (waiting() < maxQueued || models.some(hasSpareSlot)) return;
      if (waiting() - leavingSoon(models) >= maxQueued) throw queueFull(maxQueued);
    },
    reserve(model) {
      if (waiting() >= maxQueued) {
        const { models } = engine.status();
        const own = models.find((status) => status.spec.name === model);
        const isTakenAtOnce = own !== undefined && hasSpareSlot(own);
        if (!isTakenAtOnce && waiting() - leavingSoon(models) >= maxQueued) throw queueFull(maxQueued);
      }
      reserved.set(model, (reserved.get(model) ?? 0) + 1);
      reservedTotal++;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        reservedTotal--;
        const left = (reserved.get(model) ?? 1) - 1;
        if (left === 0) reserved.delete(model);
        else reserved.set(model, left);
      };
    },
  };
}

function freeSlots(model: ModelStatus): number {
  const serves = (model.state === "resident" || model.state === "remote") && !model.paused;
  return serves ? Math.max(0, model.spec.concurrency - model.running) : 0;
}

function queueFull(maxQueued: number): SirError {
  return new SirError("queue_full", `${maxQueued} jobs are waiting already, which is the limit; try again later.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** A number of things that may be held at once. */
export interface Budget {
  /** False: not so many more. */
  take(amount: number): boolean;
  give(amount: number): void;
  readonly used: number;
}

export function createBudget(limit: number): Budget {
  let used = 0;
  return {
    take(amount) {
      if (used + amount > limit) return false;
      used += amount;
      return true;
    },
    give(amount) {
      used -= amount;
    },
    get used() {
      return used;
    },
  };
}

export function tooManyBodies(limit: number): SirError {
  return new SirError("queue_full", `${limit} request bodies are being read already; try again in a moment.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
