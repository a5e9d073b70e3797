// A hint: a caller says beforehand that it will need a model. Being told is worth more than any statistics of arrivals.

import type { CallerId, HintId, ModelName } from "./ids.ts";

/**
 * - `waiting`: its time has not come. `due`: it has, and nothing has come for the model yet.
 * - `met`: a job came in time. `missed`: none did. A daily hint goes back to `waiting` for the next day.
 */
export type HintState = "waiting" | "due" | "met" | "missed";

/** Instants are wall clock in ms, because people and cron tables mean the clock on the wall. */
export interface Hint {
  readonly id: HintId;
  readonly caller: CallerId;
  readonly model: ModelName;
  readonly createdAtMs: number;
  /** When the model will be needed; of a daily hint the next time. */
  readonly atMs: number;
  /** Until when the need may still come; null: a load and two minutes after `atMs`. */
  readonly untilMs: number | null;
  readonly repeat: "daily" | null;
  /** How many jobs are expected; null: not said. */
  readonly jobs: number | null;
  /** Of those jobs. */
  readonly priority: number;
  /** How the last time ended; null before the first. */
  readonly last: "met" | "missed" | null;
}
