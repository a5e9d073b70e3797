// The budget for cutting into unfinished queues: a bucket of load seconds that fills with `swapShare` of the time.

import type { Spend } from "../../../domain/decision.ts";
import type { Field } from "../../policy.ts";
import { seconds, switchSeconds } from "./queue.ts";
import type { Settings } from "./settings.ts";

export interface Purse {
  readonly leftSeconds: number;
  readonly limitSeconds: number;
  readonly fillsPerSecond: number;
  readonly nowMs: number;
}

export function purseOf({ snapshot, candidates }: Field, { burst, swapShare }: Settings): Purse {
  const { nowMs, device } = snapshot;
  const limitSeconds = burst * candidates.reduce((most, each) => Math.max(most, switchSeconds(each)), 0);
  const { budget } = device;
  const filled = budget === null ? limitSeconds : seconds(budget.leftMs + (nowMs - budget.atMs) * swapShare);
  return { leftSeconds: Math.min(limitSeconds, filled), limitSeconds, fillsPerSecond: swapShare, nowMs };
}

/** Null when it does not reach. */
export function spend({ leftSeconds }: Purse, needSeconds: number): Spend | null {
  if (leftSeconds < needSeconds) return null;
  return { beforeMs: leftSeconds * 1_000, afterMs: (leftSeconds - needSeconds) * 1_000 };
}

/** The first whole ms at which it reaches; null: never. */
export function affordableAtMs(
  { leftSeconds, limitSeconds, fillsPerSecond, nowMs }: Purse,
  need: number,
): number | null {
  if (need > limitSeconds || fillsPerSecond === 0) return null;
  const waitMs = Math.ceil(((need - leftSeconds) / fillsPerSecond) * 1_000);
  return Math.floor(nowMs) + Math.max(1, waitMs);
}
