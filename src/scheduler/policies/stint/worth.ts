// Rule 3: the victims have queued work, and a challenger may cut in when that is worth it: for every prefix of their queue,
// from the most urgent band down, what the challenger's jobs save by not waiting for that prefix exceeds what the prefix
// and everybody behind it lose, and the budget covers both loads.
//
// It is judged as of the last event. While the victims have queued work all their slots are taken, so nothing could start
// or end before the next event anyway: looking between events would decide the same things earlier and change nothing.

import { BANDS, type Band } from "../../../domain/band.ts";
import type { Tenant } from "../../policy.ts";
import type { BusyShare } from "../../snapshot.ts";
import { bandWeight, drainSeconds, seconds, weightOf } from "../../weigh.ts";
import { type Purse, spend } from "./budget.ts";
import { best, type Challenger, type Contest, type Ruled } from "./contest.ts";
import { blocksOf, densest } from "./queue.ts";
import type { Settings } from "./settings.ts";

const BUSY_SECONDS = 1_800;
const BUSY_MOST = 0.95;

/** What cutting in before one prefix saves and costs. */
interface Exchange {
  readonly saves: number;
  readonly costs: number;
}

/** Null: the victims have nothing queued. */
export function worth(contest: Contest, share: BusyShare, purse: Purse, of: Settings): Ruled | null {
  const { queued, nowMs, challengers, backSeconds } = contest;
  if (queued === 0) return null;
  const stakes = stakesOf(contest, share, of);
  const tightest = new Map(challengers.map((each) => [each, tightestOf(contest, each, stakes, of)]));
  const margin = (each: Challenger): number => {
    const { saves, costs } = tightest.get(each) ?? { saves: 0, costs: 0 };
    return saves - costs;
  };
  const target = best(challengers, (a, b) => margin(b) - margin(a)) ?? contest.densest;
  const need = target.switchSeconds + backSeconds;
  const numbers = { ...tightest.get(target), load_seconds: target.switchSeconds, back_seconds: backSeconds };
  if (margin(target) <= 0) {
    return { ruling: { kind: "stay", reason: "not_worth", about: target, numbers }, looksMs: [] };
  }
  const paid = spend(purse, need, nowMs);
  if (paid !== null) return { ruling: { kind: "move", target, reason: "worth", numbers, spend: paid }, looksMs: [] };
  const againAtMs = purse.reachesAtMs(need);
  const short = {
    ...{ need_seconds: need, budget_seconds: purse.leftSeconds, budget_limit_seconds: purse.limitSeconds },
    ...(againAtMs === null ? {} : { again_seconds: seconds(againAtMs - nowMs) }),
  };
  const ruling = { kind: "stay", reason: "budget", about: target, numbers: { ...numbers, ...short } } as const;
  return { ruling, looksMs: [againAtMs] };
}

/** What the whole contest has at stake. */
interface Stakes {
  /** Of all that wait, the victims' queues among them. */
  readonly weight: number;
  /** The share of time that is left for whoever is put off: a busy device makes up for nothing. */
  readonly slack: number;
}

function stakesOf({ challengers, victims, eventAtMs }: Contest, share: BusyShare, of: Settings): Stakes {
  const all = [...challengers.map(({ each }) => each), ...victims];
  const kept = Math.exp(-seconds(Math.max(0, eventAtMs - share.atMs)) / BUSY_SECONDS);
  const busy = share.share * kept + (share.busy ? 1 - kept : 0);
  return {
    weight: all.reduce((sum, each) => sum + weightOf(each, eventAtMs, of), 0),
    slack: 1 - Math.min(BUSY_MOST, busy),
  };
}

/** Of the prefixes of the victims' queues the one for which cutting in pays least. */
function tightestOf(
  contest: Contest,
  { each, switchSeconds: load }: Challenger,
  stakes: Stakes,
  of: Settings,
): Exchange {
  const { victims, eventAtMs, backSeconds, queued } = contest;
  const block = densest(blocksOf(each, load + backSeconds, eventAtMs, of));
  const awaySeconds = load + block.drainSeconds;
  const own = weightOf(each, eventAtMs, of);
  const ahead = new Map<Tenant, number>();
  let tightest: Exchange | null = null;
  let [weight, n] = [0, 0];
  for (const band of BANDS) {
    const here = depthOf(victims, band);
    if (here === 0) continue;
    for (const victim of victims) ahead.set(victim, (ahead.get(victim) ?? 0) + victim.bands[band].depth);
    n += here;
    weight += victims.reduce((sum, victim) => sum + bandWeight(victim, band, eventAtMs, of), 0);
    const all = n === queued;
    const others = all ? ((stakes.weight - own - weight) * backSeconds) / stakes.slack : 0;
    const saves = block.weight * drainOf(ahead);
    const costs = of.price * (load + (all ? backSeconds : 0)) + weight * (awaySeconds + backSeconds) + others;
    if (tightest === null || saves - costs < tightest.saves - tightest.costs) tightest = { saves, costs };
  }
  return tightest ?? { saves: 0, costs: 0 };
}

const depthOf = (victims: readonly Tenant[], band: Band): number =>
  victims.reduce((sum, victim) => sum + victim.bands[band].depth, 0);

/** Half of what runs is done already, on average; victims work side by side. */
function drainOf(ahead: ReadonlyMap<Tenant, number>): number {
  let longest = 0;
  for (const [victim, n] of ahead)
    if (n > 0) longest = Math.max(longest, drainSeconds(victim, n + 0.5 * victim.inFlight));
  return longest;
}
