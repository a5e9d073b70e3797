// The budget for cutting into unfinished queues: a bucket of load seconds that fills with `swapShare` of the time.

import type { Spend } from "../../../domain/decision.ts";
import type { Field } from "../../policy.ts";
import { seconds } from "../../weigh.ts";
import { switchSeconds } from "./queue.ts";
import type { Settings } from "./settings.ts";

export interface Purse {
  readonly leftSeconds: number;
  readonly limitSeconds: number;
  /** When it reaches so far; null: never. */
  reachesAtMs(needSeconds: number): number | null;
}

export function purseOf({ snapshot, candidates }: Field, { burst, swapShare }: Settings): Purse {
  const { nowMs, device } = snapshot;
  const limitSeconds = burst * candidates.reduce((most, each) => Math.max(most, switchSeconds(each)), 0);
  const { leftMs, atMs } = device.budget ?? { leftMs: limitSeconds * 1_000, atMs: nowMs };
  return {
    leftSeconds: Math.min(limitSeconds, seconds(leftMs + (nowMs - atMs) * swapShare)),
    limitSeconds,
    reachesAtMs: (need) => (need > limitSeconds ? null : atMs + Math.max(0, need * 1_000 - leftMs) / swapShare),
  };
}

/** Null when it does not reach; the instant and the test for it are one expression, so that a timer finds it true. */
export function spend(purse: Purse, needSeconds: number, nowMs: number): Spend | null {
  const atMs = purse.reachesAtMs(needSeconds);
  if (atMs === null || nowMs < atMs) return null;
  return { beforeMs: purse.leftSeconds * 1_000, afterMs: Math.max(0, purse.leftSeconds - needSeconds) * 1_000 };
}
