// Every key of the configuration's flat `scheduler` block that a policy or guard reads, with its unit and one sentence.
// The configuration composes its strict object from the shape; each policy picks its own keys and defaults.

import { z } from "zod";

const setting = <T extends z.ZodType>(schema: T, unit: string, sentence: string): T =>
  schema.meta({ description: sentence, unit }) as T;

const duration = z.number().min(0).max(31_536_000);
const weightRange = z.number().min(0).max(1_000_000);

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
  weightRange,
  "score per second of load",
  "What a second of loading costs a challenger, and how long an idle resident is kept for each second that the challenger's load takes.",
);

export const serveBeforeSwap = setting(
  z.union([z.literal("residency"), z.literal("once"), z.literal(false)]),
  "rule",
  "What a loaded model with queued work may do before it is swapped out: `residency`, start a job, and after a forced swap finish its queue or its minimum residency; `once`, start a job; false, nothing (the founding rule, which can livelock).",
);

export const ageWeight = setting(
  weightRange,
  "score per second",
  "model-score: what a second of the oldest job's wait is worth, times the model's priority.",
);

export const depthWeight = setting(
  weightRange,
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

/** One number for each band; a band that is left out keeps its default. */
const byBand = (schema: z.ZodNumber, unit: string, sentence: string) => {
  const of = (band: string) => setting(schema.exactOptional(), unit, `Of ${band} jobs.`);
  const shape = { interactive: of("interactive"), normal: of("normal"), batch: of("batch") };
  return setting(z.strictObject(shape), unit, sentence);
};
const positive = z.number().positive().max(31_536_000);

export const weight = byBand(
  z.number().min(0).max(1_000_000),
  "per second of a job's wait",
  "stint: how much one waiting second of a job matters, by band. Default 10, 1 and 0.1. The one setting that is a wish and not a measurement.",
);

export const doublesSeconds = byBand(
  positive,
  "s",
  "stint: after waiting so long a job matters twice as much, by band; also by how much a normal and a batch job stand behind interactive ones of their own model. Default 120, 1200 and 14400.",
);

export const visitSeconds = byBand(
  positive,
  "s",
  "stint: no model that waits goes unvisited for longer, by its most urgent waiting band; at least the loads of all models that wait divided by swapShare. Default 1200, 5400 and 43200.",
);

export const swapShare = setting(
  z.number().min(0.01).max(0.9),
  "share of time",
  "stint: the share of the device's time that cutting into unfinished queues may spend on loading.",
);

export const burst = setting(
  z.number().min(2).max(1_000),
  "largest loads",
  "stint: how much of that time may be spent at once, in loads of the model that takes longest; two are a way there and back.",
);

export const price = setting(
  weightRange,
  "waiting seconds per second of load",
  "stint: what a second of loading is worth, in waiting seconds of a normal job; raise it to swap less.",
);

export const hold = setting(
  weightRange,
  "factor",
  "stint: how much the expected next jobs of an idle model count when it is kept; 0 never keeps it for them.",
);

export const holdMax = setting(
  weightRange,
  "loads there and back",
  "stint: with work waiting an idle model is never kept longer than this times the load there and back.",
);

export const rateHalfLifeSeconds = setting(
  positive,
  "s",
  "stint: after so long an arrival counts half in the rate at which a model's next jobs are expected.",
);

export const carry = setting(
  z.number().min(0).max(1),
  "share",
  "stint: how much of what jobs had waited before the last load counts again when an idle model's place is claimed.",
);

export const rescueSlack = setting(
  z.number().min(0).max(100),
  "factor",
  "stint: how much longer than expected a job with a deadline is allowed to run when its latest start is worked out.",
);

export const rescue = setting(
  z.boolean(),
  "yes or no",
  "stint: swap in for a job whose deadline can only just be met; false pays no attention to deadlines.",
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
  weight: weight.optional(),
  doublesSeconds: doublesSeconds.optional(),
  visitSeconds: visitSeconds.optional(),
  swapShare: swapShare.optional(),
  burst: burst.optional(),
  price: price.optional(),
  hold: hold.optional(),
  holdMax: holdMax.optional(),
  rateHalfLifeSeconds: rateHalfLifeSeconds.optional(),
  carry: carry.optional(),
  rescueSlack: rescueSlack.optional(),
  rescue: rescue.optional(),
} as const;
