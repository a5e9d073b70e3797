// Exhaustive longest queue: the loaded model is served until it has nothing queued and nothing in flight; then the model
// with the most waiting jobs is next, of equals the one whose oldest job waits longest.

import { z } from "zod";
import type { Choice, Field } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { msPerPoint } from "./aging.ts";
import * as keys from "./settings.ts";
import { byOldest, contenders, firstBy, isBusy, row } from "./ties.ts";

const settings = z.object({ agingDivisorSeconds: keys.agingDivisorSeconds.default(60) });
type Settings = z.infer<typeof settings>;

function choose(field: Field): Choice {
  const scored = field.candidates.map((each) => row(each, each.depth > 0 ? { depth_term: each.depth } : null));
  const stay = { target: null, scored, nextLookAtMs: null, serve: Number.POSITIVE_INFINITY } as const;
  const { resident } = field;
  if (resident?.eligible && isBusy(resident)) return { ...stay, reason: "finish" };
  const longest = firstBy(contenders(field.candidates), (a, b) => b.depth - a.depth || byOldest(a, b));
  return { ...stay, target: longest?.model ?? null, reason: "longest_queue" };
}

export const longest = definePolicy<Settings>({
  name: "longest",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: null, maxWaitSeconds: null },
  msPerPoint: (of) => msPerPoint(of.agingDivisorSeconds),
  residentPoints: () => null,
  choose,
});
