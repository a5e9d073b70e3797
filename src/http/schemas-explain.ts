// The shape of an explanation as a zod schema, held to the types of client/wire-explain.ts by the compiler.

import { z } from "@hono/zod-openapi";
import type { ExplanationWire } from "../client/wire-explain.ts";
import { CAUSES } from "../domain/wait.ts";
import { WIRE_STATUSES } from "./status-words.ts";

const instant = z.int().describe("Unix milliseconds");
const ms = z.int().describe("Milliseconds");

const subject = {
  cause: z.enum(CAUSES).describe("Why; see docs/reference/wait-causes.md"),
  rule: z.string().nullable().describe("Only of held: the rule that let another model stay"),
  by: z.string().nullable().describe("The model that holds the device, or has to go for it"),
  device: z.string().nullable(),
  decision: z.string().nullable(),
};

const part = z
  .object({
    ...subject,
    ms,
    share: z.number().describe("0 to 1, of the whole life"),
    stretches: z.int(),
    from_ms: instant,
    to_ms: instant,
    title: z.string(),
    text: z.string().describe("What happened, without a full stop"),
    levers: z.array(z.string()).describe("What would change it; empty: nothing would"),
    first_token_ms: ms.nullable().describe("Of running, where the answer is streamed: until its first byte; else null"),
    generating_ms: ms.nullable().describe("From then on; both sum to ms"),
    went_first: z
      .int()
      .nullable()
      .describe("Of own_queue: jobs of its own model started while it was queued; null: not all of them were seen"),
    went_first_higher: z.int().nullable().describe("Of them those of a higher band"),
  })
  .openapi("WaitPart");

const stretch = z.object({ ...subject, from_ms: instant, to_ms: instant }).openapi("WaitStretch");

const decision = z
  .object({
    id: z.string(),
    at_ms: instant,
    last_at_ms: instant.describe("The last look that came to the same"),
    times: z.int().describe("How many looks came to the same"),
    kind: z.string(),
    reason: z.string(),
    device: z.string(),
    sentence: z.string(),
    own: z
      .object({ score: z.number().nullable(), depth: z.int(), oldest_seconds: z.number() })
      .nullable()
      .describe("The job's own model; null: it was no candidate"),
    winner: z.object({ model: z.string(), score: z.number().nullable() }).nullable().describe("Who stayed or came"),
    trail: z
      .array(z.tuple([instant, z.number().nullable(), z.number().nullable()]))
      .describe("Instant, own score, the winner's; oldest first, 120 at most"),
  })
  .openapi("ExplainingDecision");

const expected = z
  .object({
    position: z.int().nullable().describe("0 is next of its model"),
    low_ms: instant.nullable(),
    mid_ms: instant.nullable(),
    high_ms: instant.nullable(),
    bound_ms: instant.nullable().describe("Its model is loaded by then: a promise, not an estimate"),
    text: z.string(),
  })
  .openapi("Expectation");

export const ExplanationSchema = z
  .object({
    object: z.literal("job.explanation"),
    job: z.string(),
    model: z.string(),
    label: z.string(),
    status: z.enum(WIRE_STATUSES),
    final: z.boolean().describe("False: the job lives, and the last part goes on"),
    partial: z.boolean().describe("True: the records have gone; parts are what was summed up when the job ended"),
    from_ms: instant,
    to_ms: instant,
    total_ms: ms.describe("The sum of the parts, exactly"),
    wait_ms: ms,
    run_ms: ms,
    summary: z.string(),
    summary_code: z.string(),
    parts: z.array(part).describe("In order of first appearance"),
    stretches: z.array(stretch),
    merged: z.int().describe("How many stretches went into their neighbours to keep the list short"),
    decisions: z.array(decision).describe("Those that passed it over or brought it in, oldest first; 50 at most"),
    expected: expected.nullable().describe("Null unless it is queued"),
    try: z.string().nullable().describe("A command that shows what another setting would have done"),
  })
  .openapi("Explanation") satisfies z.ZodType<ExplanationWire>;
