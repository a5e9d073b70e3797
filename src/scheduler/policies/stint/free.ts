// Rule 4: the victims have nothing queued. The densest challenger comes in once what is lost by waiting has reached what
// keeping the victims is worth: the price that their own next jobs would pay for the way there and back. That is renting
// until one has paid for the skis.

import { demandOf, seconds } from "../../weigh.ts";
import { type Challenger, type Contest, leftSeconds, overtakenAtMs, type Ruled } from "./contest.ts";
import { debtAtLoad, debtOf, debtSlope, switchSeconds } from "./queue.ts";
import type { Settings } from "./settings.ts";

/** Sums come out a hair below what they are compared with. */
const ROUNDING = 1e-9;
/** Nothing is waited for longer. */
const FAR_MS = 1_000_000_000;

/** Instants are relative to the contest's, so that one claim can be judged at any. */
interface Claim {
  readonly target: Challenger;
  /** What its own jobs have to have waited at least. */
  readonly floor: number;
  debt(afterMs: number): number;
  /** What all challengers have lost since the last load, and a part of what they had lost before. */
  lost(afterMs: number): number;
  price(afterMs: number): number;
  /** The device has idled long enough, whatever its models are worth. */
  idledOut(afterMs: number): boolean;
}

export function free(contest: Contest, of: Settings): Ruled {
  const { nowMs, densest: target, inFlight } = contest;
  const claim = claimOf(contest, of);
  const numbers = (againMs: number | null) => ({
    debt: claim.lost(0),
    price: claim.price(0),
    ...(againMs === null ? {} : { again_seconds: seconds(againMs) }),
  });
  if (ripe(claim, 0)) {
    return { ruling: { kind: "move", target, reason: "free", numbers: numbers(null), spend: null }, looksMs: [] };
  }
  const ripeAtMs = firstWholeMs(nowMs, (afterMs) => ripe(claim, afterMs));
  const overtaken = overtakenAtMs(contest);
  const nextMs = ripeAtMs === null ? overtaken : Math.min(ripeAtMs, overtaken ?? ripeAtMs);
  const again = numbers(nextMs === null ? null : nextMs - nowMs);
  const reason = inFlight > 0 ? "finish" : "likely_needed";
  return { ruling: { kind: "stay", reason, about: target, numbers: again }, looksMs: [nextMs] };
}

/** Once true it stays true: debts grow and the price falls. */
function ripe(claim: Claim, afterMs: number): boolean {
  const { floor } = claim;
  if (claim.debt(afterMs) + ROUNDING < floor) return false;
  const price = claim.price(afterMs);
  return price === floor || claim.lost(afterMs) + ROUNDING >= price || claim.idledOut(afterMs);
}

function claimOf(contest: Contest, of: Settings): Claim {
  const { nowMs, densest: target, challengers, idleSinceMs, backSeconds } = contest;
  const floor = of.price * target.switchSeconds;
  const awaySeconds = leftSeconds(contest) + target.switchSeconds + target.best.drainSeconds;
  const lines = challengers.map(({ each }) => ({
    debt: debtOf(each, nowMs, of),
    slope: debtSlope(each, of.weight),
    before: debtAtLoad(each, of),
  }));
  const before = of.carry * debtAtLoad(target.each, of);
  const own = { debt: debtOf(target.each, nowMs, of), slope: debtSlope(target.each, of.weight) };
  const longestIdleMs = of.holdMax * (target.switchSeconds + backSeconds) * 1_000;
  return {
    target,
    floor,
    debt: (afterMs) => own.debt + own.slope * seconds(afterMs),
    lost: (afterMs) =>
      lines.reduce((sum, line) => sum + Math.max(0, line.debt + line.slope * seconds(afterMs) - line.before), before),
    price: (afterMs) => Math.max(floor, keepingCosts(contest, awaySeconds, nowMs + afterMs, of)),
    idledOut: (afterMs) => idleSinceMs !== null && nowMs + afterMs >= idleSinceMs + longestIdleMs,
  };
}

/** What the victims' own next jobs would suffer if they were away for so long, and had to be brought back. */
function keepingCosts({ victims }: Contest, awaySeconds: number, atMs: number, of: Settings): number {
  const perDemand = (each: Contest["victims"][number]): number => awaySeconds * (awaySeconds / 2 + switchSeconds(each));
  return victims.reduce((sum, each) => sum + of.hold * demandOf(each, atMs, of) * perDemand(each), 0);
}

/** The first whole ms after now at which `holds`, which does not stop once it does; null: not for a long time. */
function firstWholeMs(nowMs: number, holds: (afterMs: number) => boolean): number | null {
  const from = Math.floor(nowMs);
  const at = (step: number): boolean => holds(from + step - nowMs);
  let high = 1;
  while (!at(high)) {
    if (high > FAR_MS) return null;
    high *= 2;
  }
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (at(middle)) high = middle;
    else low = middle;
  }
  return from + high;
}
