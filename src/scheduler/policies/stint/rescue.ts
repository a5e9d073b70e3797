// Rule 2: a job whose deadline can only just be met comes in, if the budget allows to cut in for it. And inside a loaded
// model: a job whose deadline is near starts before those ranked ahead of it.

import type { JobId } from "../../../domain/ids.ts";
import type { Tenant } from "../../policy.ts";
import { aloneSeconds, seconds, slowness } from "../../weigh.ts";
import { type Purse, spend } from "./budget.ts";
import { best, type Challenger, type Contest, leftSeconds, type Ruled } from "./contest.ts";
import type { Settings } from "./settings.ts";

/** Of one run: with less than this left a deadline is not tried for any more. */
const HOPELESS = { toLoad: 0.5, toStart: 0.3 } as const;
/** What runs there now may take this much longer than expected. */
const DRAIN_SLACK = 1.5;
/** A job starts early when less is left than this many runs and seconds. */
const NEAR = { runs: 3, seconds: 60 } as const;

export function rescue(contest: Contest, purse: Purse, of: Settings): Ruled {
  if (!of.rescue) return { ruling: null, looksMs: [] };
  const { nowMs, challengers, queued, backSeconds } = contest;
  const drain = DRAIN_SLACK * leftSeconds(contest);
  const possible = challengers.filter((each) => {
    const untilMs = possibleUntilMs(each);
    return untilMs !== null && nowMs <= untilMs;
  });
  const latestMs = ({ each, switchSeconds }: Challenger): number => {
    const run = of.rescueSlack * aloneSeconds(each) * slowness(each, each.depth);
    return (each.deadline?.atMs ?? 0) - (switchSeconds + run + drain) * 1_000;
  };
  const looksMs = possible.flatMap((each) => [latestMs(each), Math.floor(possibleUntilMs(each) ?? 0) + 1]);
  const target = best(possible, (a, b) => latestMs(a) - latestMs(b));
  if (target === null || latestMs(target) > nowMs) return { ruling: null, looksMs };
  const need = queued > 0 ? target.switchSeconds + backSeconds : 0;
  const paid = spend(purse, need, nowMs);
  if (paid === null) return { ruling: null, looksMs: [...looksMs, purse.reachesAtMs(need)] };
  const numbers = {
    due_in_seconds: Math.max(0, seconds((target.each.deadline?.atMs ?? nowMs) - nowMs)),
    ...(need > 0 ? { load_seconds: target.switchSeconds, back_seconds: backSeconds } : {}),
  };
  return { ruling: { kind: "move", target, reason: "deadline", numbers, spend: need > 0 ? paid : null }, looksMs };
}

/** Null: no job of it has a deadline. */
function possibleUntilMs({ each, switchSeconds }: Challenger): number | null {
  if (each.deadline === null) return null;
  return each.deadline.atMs - (switchSeconds + HOPELESS.toLoad * aloneSeconds(each)) * 1_000;
}

/**
 * The queued job of the loaded models that starts next whatever its rank; null: none. It matters only when a slot is free,
 * and that is at events, so it is judged as of the last one.
 */
export function urgent(tenants: readonly Tenant[], eventAtMs: number, { rescue: on }: Settings): JobId | null {
  const near = tenants.flatMap(({ eligible, deadline, ...each }) => {
    if (!on || !eligible || deadline === null) return [];
    const run = aloneSeconds(each) * slowness(each, each.slots);
    const left = seconds(deadline.atMs - eventAtMs);
    return left < NEAR.runs * run + NEAR.seconds && left > HOPELESS.toStart * run ? [deadline] : [];
  });
  const [first] = near.sort((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1));
  return first?.id ?? null;
}
