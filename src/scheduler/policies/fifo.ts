// First come, first served, with priorities as llama-swap's `fifo` has them: the caller's is added to the model's own,
// the higher sum goes first, equal sums in order of arrival.
//
// Collating (the default): the loaded model is served until it has nothing queued and nothing in flight, then the first
// job of all decides. Nothing bounds a wait. `strict`: the first job of all decides each time, so that the order is exact
// across models and each change of model is a swap.

import { z } from "zod";
import type { Candidate, Choice, Field } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { STRICT_MS_PER_POINT } from "./aging.ts";
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

function choose(field: Field, { strict }: Settings): Choice {
  const scored = field.candidates.map((each) =>
    row(each, each.head === null ? null : { caller_priority: each.head.priority, model_priority: each.priority }),
  );
  const serve = strict ? 1 : Number.POSITIVE_INFINITY;
  const stay = { target: null, scored, nextLookAtMs: null, serve } as const;
  const { resident } = field;
  if (!strict && resident?.eligible && isBusy(resident)) return { ...stay, reason: "finish" };
  const first = firstBy(contenders(field.candidates), byTurn);
  return { ...stay, target: first?.model ?? null, reason: "arrival_order" };
}

export const fifo = definePolicy<Settings>({
  name: "fifo",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: null, maxWaitSeconds: null },
  msPerPoint: () => STRICT_MS_PER_POINT,
  residentPoints: () => 0,
  choose,
});
