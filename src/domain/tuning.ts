// Settings that were tuned: a change of one setting of the policy, first only watched, then applied, and taken back by
// itself when it does harm. The configuration file is never written; the newest row in the store is what holds.

import type { Verdict } from "./decision.ts";
import type { DecisionId, DeviceId } from "./ids.ts";

/** A setting as the configuration spells it, e.g. `{ maxWaitSeconds: 240 }`. */
export type SettingValues = Readonly<Record<string, unknown>>;

/**
 * - `shadow`: asked on every snapshot, never obeyed. `live`: obeyed, and watched. `kept`: obeyed, the watch is over.
 * - `returned`: taken back, see `reason`. `dropped`: the owner changed the scheduler's section, which always wins.
 */
export type TuningState = "shadow" | "live" | "kept" | "returned" | "dropped";

export interface Tuning {
  readonly state: TuningState;
  /** Router time of this state's beginning. */
  readonly atMs: number;
  /** When this state gives way to the next: shadow to live, live to kept. Null: it stays. */
  readonly untilMs: number | null;
  readonly policy: string;
  /** What changes. */
  readonly set: SettingValues;
  /** All settings of the policy before the change; where they no longer hold, the tuning is dropped. */
  readonly base: SettingValues;
  /** How long it is watched once it is obeyed. */
  readonly watchMs: number;
  /** In words: why it is in this state. */
  readonly reason: string;
}

/** Whether something is obeyed beside the file. */
export function isInForce({ state }: Tuning): boolean {
  return state === "live" || state === "kept";
}

/** What a second policy said on a snapshot on which it disagreed. */
export interface Shadow {
  readonly atMs: number;
  readonly device: DeviceId;
  /** The decision in force, which it disagrees with. */
  readonly decision: DecisionId | null;
  readonly policy: string;
  readonly set: SettingValues;
  readonly verdict: Verdict;
}
