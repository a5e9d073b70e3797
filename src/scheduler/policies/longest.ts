// Exhaustive longest queue: the loaded model is served until it has nothing queued and nothing in flight; then the model
// with the most waiting jobs is next, of equals the one whose oldest job waits longest.

import { z } from "zod";
import type { Choice, Field } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { aging } from "./aging.ts";
import * as keys from "./settings.ts";
import { byOldest, firstBy, isBusy, row } from "./ties.ts";

const settings = z.object({ agingDivisorSeconds: keys.agingDivisorSeconds.default(60) });
type Settings = z.infer<typeof settings>;

function choose({ candidates, challengers }: Field): Choice {
  const scored = candidates.map((each) => row(each, each.depth > 0 ? { depth_term: each.depth } : null));
  const stay = { target: null, scored, nextLookAtMs: null, serve: Number.POSITIVE_INFINITY } as const;
  const open = challengers.filter(({ victims }) => !victims.some((each) => each.eligible && isBusy(each)));
  if (open.length === 0) return { ...stay, reason: "finish" };
  const longest = firstBy(open, (a, b) => b.depth - a.depth || byOldest(a, b));
  return { ...stay, target: longest?.model ?? null, reason: "longest_queue" };
}

export const longest = definePolicy<Settings>({
  name: "longest",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: null, maxWaitSeconds: null },
  ranking: (of) => aging(of.agingDivisorSeconds),
  residentPoints: () => null,
  choose,
});
