// Whether a deadline can be kept, asked before anything is stored, for callers who would rather be refused than queued.

import { SirError } from "../domain/errors.ts";
import type { EngineControl, Place } from "../engine/control.ts";
import type { Store } from "../store/store.ts";
import type { PreparedCall } from "./intake.ts";

interface FeasibleDeps {
  readonly store: Pick<Store, "keyed">;
  readonly engine: Pick<EngineControl, "queue">;
}

/**
 * Refuses a deadline that lies before the estimated answer, for a caller who asked for that. Where nothing is known yet
 * nothing is refused, nor is a request whose key names a job that was accepted before.
 * @throws {SirError} deadline_infeasible
 */
export async function refuseInfeasible({ store, engine }: FeasibleDeps, call: PreparedCall): Promise<void> {
  const { deadlineMs, idempotency, caller } = call;
  if (deadlineMs === null) return;
  const place = await engine.queue.placeFor(call.model.name, call.priority);
  const estimatedMs = place?.estimatedMs ?? null;
  if (place === null || estimatedMs === null || estimatedMs <= deadlineMs) return;
  if (idempotency !== null && (await store.keyed(caller, idempotency.key)) !== null) return;
  throw new SirError("deadline_infeasible", wordsOf(place, estimatedMs, deadlineMs), { param: "Cancel-After" });
}

function wordsOf({ position, loadMs }: Place, estimatedMs: number, deadlineMs: number): string {
  const ahead = position === null || position === 0 ? [] : [`${position} ${position === 1 ? "job" : "jobs"} before it`];
  const load = loadMs === 0 ? [] : [`a load of ${seconds(loadMs)}`];
  const why = [...ahead, ...load].join(", ");
  return (
    `The answer is expected in ${seconds(estimatedMs)}${why === "" ? "" : ` (${why})`}, after the deadline of ` +
    `${seconds(deadlineMs)}. Give it more time or a higher priority, or leave out SIR-Infeasible to have it queued.`
  );
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;
