// The shapes of replays as zod schemas, held to the types of client/wire-live.ts by the compiler.

import { z } from "@hono/zod-openapi";
import type { ReplayChoicesWire, ReplayWire, WaitDistributionWire } from "../client/wire-live.ts";

const unixMs = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const settings = z.record(z.string(), z.unknown());
const status = z.enum(["running", "completed", "failed", "cancelled"]);

export const ReplayRequestSchema = z
  .strictObject({
    from_ms: unixMs.describe("Unix milliseconds; jobs accepted from then on are counted"),
    to_ms: unixMs.describe("Excluded"),
    policy: z.string().optional().describe("Another policy; absent: the one that ran"),
    set: settings.default({}).describe('Settings as in the configuration, e.g. {"maxWaitSeconds": 600}'),
  })
  .openapi("ReplayRequest");

const phase = z.enum(["loading", "serving", "idle", "draining", "unloading", "failed"]);
const span = z
  .tuple([z.string(), z.string(), phase, z.number(), z.number().nullable(), z.string().nullable()])
  .readonly()
  // OpenAPI cannot say what stands at which place.
  .openapi({ type: "array", items: {}, minItems: 6, maxItems: 6 });

const shares = z.array(z.number()).readonly();
const waits = z
  .object({
    seconds: shares.describe("Ascending, evenly on a logarithmic axis"),
    before: shares.describe("Share of the jobs that had started after so long, with the settings that ran"),
    after: shares.nullable().describe("With the others"),
  })
  .openapi("WaitDistribution") satisfies z.ZodType<WaitDistributionWire>;

const tried = {
  id: z.string(),
  status,
  from_ms: unixMs,
  to_ms: unixMs,
  policy: z.string().nullable(),
  set: settings,
};

export const ReplaySchema = z
  .object({
    ...tried,
    object: z.literal("replay"),
    progress: z.number().describe("0 to 1"),
    error: z.string().nullable(),
    report: settings.nullable().describe("The document of `sir replay --json`"),
    recorded_spans: z.array(span).nullable(),
    other_spans: z.array(span).nullable(),
    waits: waits.nullable(),
  })
  .openapi("Replay") satisfies z.ZodType<ReplayWire>;

const choice = z.object({
  key: z.string(),
  unit: z.string(),
  description: z.string(),
  default: z.unknown(),
  schema: settings.describe("JSON Schema of its values"),
});

export const ReplayChoicesSchema = z
  .object({
    object: z.literal("replay.choices"),
    span: z.object({ from_ms: unixMs, to_ms: unixMs }).nullable().describe("Of what is recorded"),
    policy: z.string().describe("In force now, with its settings"),
    settings,
    policies: z.record(z.string(), z.array(choice)),
    replays: z.array(z.object(tried)).describe("Newest first"),
  })
  .openapi("ReplayChoices") satisfies z.ZodType<ReplayChoicesWire>;
