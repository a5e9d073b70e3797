// What a minute was, counted in memory as it goes by: for charts that must not read a million jobs.

import type { Band } from "./band.ts";
import type { ModelName } from "./ids.ts";

export interface Minute {
  /** Its beginning in router time, a multiple of 60,000. */
  readonly atMs: number;
  /** Null: all models together. */
  readonly model: ModelName | null;
  readonly band: Band;
  /** Most jobs that waited at one moment. */
  readonly queuedMax: number;
  readonly started: number;
  /** With success or not, those that failed among them. */
  readonly finished: number;
  readonly failed: number;
  /** Of the jobs that finished in it. */
  readonly waitMs: number;
  readonly runMs: number;
}
