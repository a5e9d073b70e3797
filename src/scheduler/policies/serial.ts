// llama-swap's priority rule, on the first job of each model:
//
//   score = caller's priority + swap affinity (when its model is loaded) + waited seconds / agingDivisorSeconds
//
// The highest score owns the device; equal scores go in order of arrival. The affinity is below the distance of two bands,
// so it never crosses one; ageing has no bound and crosses them on purpose. All jobs age at one rate, so the comparison is
// made on constant keys (ranks), and time alone never changes it.

import { z } from "zod";
import type { Candidate, Choice, Field } from "../policy.ts";
import { definePolicy } from "../policy.ts";
import { aging } from "./aging.ts";
import * as keys from "./settings.ts";
import { contenders, firstBy, row } from "./ties.ts";

const settings = z.object({
  agingDivisorSeconds: keys.agingDivisorSeconds.default(60),
  swapAffinityBonus: keys.swapAffinityBonus.default(10),
  batch: keys.batch.default(true),
});
type Settings = z.infer<typeof settings>;

function termsOf(each: Candidate, of: Settings, nowMs: number): Readonly<Record<string, number>> | null {
  if (each.head === null) return null;
  const waitedMs = Math.max(0, nowMs - each.head.acceptedAtMs);
  return {
    priority_term: each.head.priority,
    affinity_term: each.resident ? of.swapAffinityBonus : 0,
    aging_term: of.agingDivisorSeconds === 0 ? 0 : waitedMs / 1000 / of.agingDivisorSeconds,
  };
}

function choose({ snapshot, candidates, tenants, challengers }: Field, of: Settings): Choice {
  const scored = candidates.map((each) => row(each, termsOf(each, of, snapshot.nowMs)));
  const busySlots = tenants.reduce((sum, { inFlight }) => sum + inFlight, 0);
  // One by one while others wait: once the next of the loaded model's jobs is no longer the best of all, none is started.
  // (Whether they may be loaded changes with time; whether they wait does not.)
  const alone = !candidates.some(({ resident, depth }) => depth > 0 && !resident);
  const batch = alone ? Number.POSITIVE_INFINITY : 1;
  const serve = of.batch ? batch : busySlots === 0 ? 1 : 0;
  const bonusMs = of.swapAffinityBonus * aging(of.agingDivisorSeconds).msPerPoint;
  const key = (each: Candidate): number => (each.head?.rank ?? 0) - (each.resident ? bonusMs : 0);
  const byKey = (a: Candidate, b: Candidate): number => {
    if (key(a) !== key(b)) return key(a) - key(b);
    const arrival = (a.head?.acceptedAtMs ?? 0) - (b.head?.acceptedAtMs ?? 0);
    if (arrival !== 0) return arrival;
    const [left, right] = [a.head?.id ?? "", b.head?.id ?? ""];
    return left === right ? 0 : left < right ? -1 : 1;
  };
  const turn = of.batch ? null : (firstBy(contenders(tenants), byKey)?.model ?? null);
  const stay = { target: null, scored, nextLookAtMs: null, serve, turn } as const;
  if (!of.batch && busySlots > 0) return { ...stay, reason: "finish" };
  const open = challengers.filter((each) => firstBy<Candidate>([each, ...contenders(each.victims)], byKey) === each);
  const first = firstBy(open, byKey);
  if (first === null) return { ...stay, reason: "resident_wins" };
  return { ...stay, target: first.model, reason: "challenger_wins" };
}

export const serial = definePolicy<Settings>({
  name: "serial",
  settings,
  keys: Object.keys(settings.shape),
  guardDefaults: { minResidencySeconds: null, maxWaitSeconds: null },
  ranking: (of) => aging(of.agingDivisorSeconds),
  residentPoints: (of) => of.swapAffinityBonus,
  choose,
});
