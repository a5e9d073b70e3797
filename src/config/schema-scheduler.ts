// The scheduler's section: which policy, and the settings of all policies, flat. Those of a policy that is not chosen are
// accepted, so that policies can be compared by changing one word; `sir doctor` names them as unused.

import { z } from "zod";
import type { BoundPolicy } from "../scheduler/policy.ts";
import type { Problem } from "./problem.ts";
import { seconds, secondsAboveZero } from "./units.ts";

export const schedulerSection = z
  .strictObject({
    policy: z.string().min(1).default("model-score").describe("How the next owner of a device is chosen."),
    drainSeconds: seconds()
      .default(300)
      .describe("Running jobs of a model that is evicted may finish for so long; then they are interrupted."),
    minResidencySeconds: seconds().nullable().optional().describe("interim"),
    maxWaitSeconds: secondsAboveZero().nullable().optional().describe("interim"),
    swapAffinityBonus: z.number().min(0).default(10).describe("interim"),
  })
  .prefault({})
  .describe("How the next owner of a device is chosen.");

export type SchedulerDocument = z.output<typeof schedulerSection>;

export interface BoundScheduler {
  /** Null when there are problems. */
  readonly bound: BoundPolicy | null;
  readonly problems: readonly Problem[];
  /** Settings that were written down and that the chosen policy does not read. */
  readonly unused: readonly string[];
}

export function bindScheduler(_scheduler: SchedulerDocument, _written: unknown): BoundScheduler {
  throw new Error("not there yet");
}
