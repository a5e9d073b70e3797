// Which term put a job before others when it was started: for its receipt and for `sir_reorders_total`.

import { BANDS } from "../domain/band.ts";
import type { ModelName } from "../domain/ids.ts";
import type { ReorderCause } from "../domain/job.ts";
import type { BoundPolicy } from "./policy.ts";
import type { Head, ModelView } from "./snapshot.ts";

/** The part of a job that its place depends on. */
export type Picked = Head;

/** What the views are of: the models that share a device, as they are or were just before the start. */
export interface Queues {
  readonly nowMs: number;
  readonly models: readonly ModelView[];
}

/**
 * - `resident`: it went before an earlier job of another model because its own model is loaded.
 * - `swap_affinity`: the same, and the policy's bonus for the loaded model alone made the difference.
 * - `priority`: it went before an earlier job because its caller's priority is higher.
 * - `aging`: it went before a more urgent job, because it has waited so much longer. Of its own model's jobs only the
 *   oldest of each band is seen.
 * - null: it went in order of arrival, and before nothing more urgent.
 *
 * The first that holds is the cause. Jobs of models that may not be loaded now were not passed over. A view may be older
 * than the last start of the same pass: a job of the picked one's own model that outranks it has started already.
 */
export function reorderCause(
  queues: Queues,
  model: ModelName,
  picked: Picked,
  policy: Pick<BoundPolicy, "ranking" | "residentPoints">,
): ReorderCause | null {
  const own = queues.models.find((each) => each.model === model);
  const others = queues.models.filter((each) => each !== own && mayGo(each, queues.nowMs));
  const points = policy.residentPoints ?? null;
  let byPriority = own?.oldest != null && isEarlier(own.oldest, picked) && own.oldest.rank > picked.rank;
  for (const { head, oldest } of others) {
    for (const other of [head, oldest]) {
      if (other === null || !isEarlier(other, picked)) continue;
      if (points !== null && other.rank > picked.rank) byPriority = true;
      else
        return points !== null && points > 0 && gainsBy(points, picked, other, policy) ? "swap_affinity" : "resident";
    }
  }
  if (byPriority) return "priority";
  const waiting = [...(own === undefined ? [] : heads(own)), ...(points === null ? [] : others.flatMap(heads))];
  const outwaited = waiting.some((other) => other.priority > picked.priority && other.rank > picked.rank);
  return outwaited ? "aging" : null;
}

function mayGo(view: ModelView, nowMs: number): boolean {
  return !view.paused && view.retryAtMs <= nowMs;
}

function isEarlier(a: Head, b: Head): boolean {
  return a.id !== b.id && (a.acceptedAtMs < b.acceptedAtMs || (a.acceptedAtMs === b.acceptedAtMs && a.id < b.id));
}

/** The other job outranks it, but no longer once the bonus is added. */
function gainsBy(points: number, picked: Head, other: Head, { ranking }: Pick<BoundPolicy, "ranking">): boolean {
  return picked.rank - points * ranking.msPerPoint < other.rank;
}

function heads(view: ModelView): Head[] {
  return [view.head, ...BANDS.map((band) => view.bands[band].oldest)].filter((each) => each !== null);
}
