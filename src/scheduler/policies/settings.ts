// Every key of the configuration's flat `scheduler` block that a policy or guard reads, with its unit and one sentence.
// The configuration composes its strict object from the shape; each policy picks its own keys and defaults.

import { z } from "zod";

const setting = <T extends z.ZodType>(schema: T, unit: string, sentence: string): T =>
  schema.meta({ description: sentence, unit }) as T;

const duration = z.number().min(0).max(31_536_000);
const weight = z.number().min(0).max(1_000_000);

export const minResidencySeconds = setting(
  duration.nullable(),
  "s",
  "How long a freshly loaded model keeps the device while it has work, or has been idle for less than a swap costs; null: off. Default 30 under model-score, off elsewhere.",
);

export const maxWaitSeconds = setting(
  z.number().positive().max(31_536_000).nullable(),
  "s",
  "The ceiling: a model whose oldest job has waited so long is loaded next, whatever the scores say; null: off. Default 120 under model-score, off elsewhere.",
);

export const switchCostWeight = setting(
  weight,
  "score per second of load",
  "What a second of loading costs a challenger, and how long an idle resident is kept for each second that the challenger's load takes.",
);

export const serveBeforeSwap = setting(
  z.union([z.literal("residency"), z.literal("once"), z.literal(false)]),
  "rule",
  "What a loaded model with queued work may do before it is swapped out: `residency`, start a job, and after a forced swap finish its queue or its minimum residency; `once`, start a job; false, nothing (the founding rule, which can livelock).",
);

export const ageWeight = setting(
  weight,
  "score per second",
  "model-score: what a second of the oldest job's wait is worth, times the model's priority.",
);

export const depthWeight = setting(
  weight,
  "score per job",
  "model-score: what each queued job is worth, times the model's priority.",
);

export const idleLapse = setting(
  z.boolean(),
  "yes or no",
  "model-score: no switch cost is charged once the resident has been idle for switchCostWeight times the challenger's load; false charges it always (the founding rule).",
);

export const agingDivisorSeconds = setting(
  duration,
  "s per point",
  "How long a job waits to gain one point of priority; 0: jobs do not age, and a higher priority always goes first. fifo never ages.",
);

export const swapAffinityBonus = setting(
  z.number().min(0).max(99),
  "points",
  "serial: points that a job has ahead of others because its model is loaded; below 100, so that it never crosses a band.",
);

export const batch = setting(
  z.boolean(),
  "yes or no",
  "serial: fill the loaded model's slots; false runs literally one job at a time.",
);

export const strict = setting(
  z.boolean(),
  "yes or no",
  "fifo: exact order across models, a swap whenever the next job needs one; false keeps the loaded model until its queue is empty.",
);

/** For the configuration: every key is optional there, because defaults belong to the policies. */
export const schedulerSettingsShape = {
  minResidencySeconds: minResidencySeconds.optional(),
  maxWaitSeconds: maxWaitSeconds.optional(),
  switchCostWeight: switchCostWeight.optional(),
  serveBeforeSwap: serveBeforeSwap.optional(),
  ageWeight: ageWeight.optional(),
  depthWeight: depthWeight.optional(),
  idleLapse: idleLapse.optional(),
  agingDivisorSeconds: agingDivisorSeconds.optional(),
  swapAffinityBonus: swapAffinityBonus.optional(),
  batch: batch.optional(),
  strict: strict.optional(),
} as const;
