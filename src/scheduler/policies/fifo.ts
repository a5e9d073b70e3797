// First come, first served, with priorities as llama-swap's `fifo` has them: the caller's is added to the model's own,
// the higher sum goes first, equal sums in order of arrival.
//
// Collating (the default): the loaded model is served until it has nothing queued and nothing in flight, then the first
// job of all decides. Nothing bounds a wait. `strict`: the first job of all decides each time, so that the order is exact
// across models and each change of model is a swap.

import { z } from "zod";
import type { Candidate, Choice, Field } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { aging } from "./aging.ts";
import * as keys from "./settings.ts";
import { contenders, firstBy, isBusy, row } from "./ties.ts";

const settings = z.object({ strict: keys.strict.default(false) });
type Settings = z.infer<typeof settings>;

const urgency = (each: Candidate): number => (each.head?.priority ?? 0) + each.priority;

/** The higher sum, then the earlier arrival, then the id: ids grow with time. */
function byTurn(a: Candidate, b: Candidate): number {
  if (a.head === null || b.head === null) return 0;
  if (urgency(a) !== urgency(b)) return urgency(b) - urgency(a);
  if (a.head.acceptedAtMs !== b.head.acceptedAtMs) return a.head.acceptedAtMs - b.head.acceptedAtMs;
  if (a.head.id === b.head.id) return 0;
  return a.head.id < b.head.id ? -1 : 1;
}

function choose({ candidates, tenants, challengers }: Field, { strict }: Settings): Choice {
  const scored = candidates.map((each) =>
    row(each, each.head === null ? null : { caller_priority: each.head.priority, model_priority: each.priority }),
  );
  const serving = contenders(tenants);
  const serve = strict ? 1 : Number.POSITIVE_INFINITY;
  const turn = strict ? (firstBy(serving, byTurn)?.model ?? null) : null;
  const stay = { target: null, scored, nextLookAtMs: null, serve, turn } as const;
  if (strict) {
    const first = firstBy<Candidate>([...serving, ...challengers], byTurn);
    return { ...stay, target: first?.model ?? null, reason: "arrival_order" };
  }
  const open = challengers.filter(({ victims }) => !victims.some((each) => each.eligible && isBusy(each)));
  if (open.length === 0) return { ...stay, reason: "finish" };
  return { ...stay, target: firstBy(open, byTurn)?.model ?? null, reason: "arrival_order" };
}

export const fifo = definePolicy<Settings>({
  name: "fifo",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: null, maxWaitSeconds: null },
  ranking: () => aging(0),
  residentPoints: () => 0,
  choose,
});
