// The shapes of what operators watch as zod schemas, held to the types of client/wire-live.ts by the compiler.

import { z } from "@hono/zod-openapi";
import type { JobRow, JobRowList, MoveWire, SeriesWire, SpanRow, TimelineWire } from "../client/wire-live.ts";
import { BANDS } from "../domain/band.ts";
import { CAUSES } from "../domain/wait.ts";
import { pageOf, ReceiptSchema } from "./schemas.ts";

const ms = z.int().describe("Unix milliseconds");
const names = z.array(z.string()).readonly();

const span = z
  .tuple([
    z.string().describe("Device"),
    z.string().describe("Model"),
    z.enum(["loading", "serving", "idle", "draining", "unloading", "failed"]),
    ms.describe("From, Unix milliseconds"),
    ms.nullable().describe("To; null: it goes on"),
    z.string().nullable().describe("The decision that began the move it is part of"),
  ])
  .readonly()
  .openapi("Span") satisfies z.ZodType<SpanRow>;

const move = z
  .object({
    id: z.string(),
    device: z.string(),
    at_ms: ms,
    kind: z.enum(["swap", "load", "preload", "unload"]),
    reason: z.string(),
    forced: z.boolean().describe("The ceiling spoke"),
    load: z.string().nullable(),
    evict: names,
    sentence: z.string(),
  })
  .openapi("Move") satisfies z.ZodType<MoveWire>;

export const TimelineSchema = z
  .object({
    object: z.literal("timeline"),
    from_ms: ms,
    to_ms: ms,
    spans: z.array(span).describe("By device and model, oldest first; narrower than a pixel are put together"),
    moves: z
      .array(move)
      .describe("Decisions that moved something, oldest first; of those within three pixels the last"),
    pauses: z
      .array(z.tuple([ms, ms.nullable(), z.string().nullable(), z.string(), z.string().nullable()]).readonly())
      .describe("From, to, device (null: the router), by whom, why; of the router and of the devices asked for"),
    downtimes: z.array(z.tuple([ms, ms]).readonly()),
  })
  .openapi("Timeline") satisfies z.ZodType<TimelineWire>;

const column = z.array(z.int()).readonly();

export const SeriesSchema = z
  .object({
    object: z.literal("series"),
    name: z.literal("queue_depth"),
    step_ms: z.int(),
    at_ms: column.describe("Where each step begins, Unix milliseconds"),
    interactive: column.describe("The most that waited at one moment of the step"),
    normal: column,
    batch: column,
  })
  .openapi("Series") satisfies z.ZodType<SeriesWire>;

const jobRow = ReceiptSchema.extend({
  band: z.enum(BANDS),
  caller: z.string().nullable().describe("Null where the asker may not know it"),
  wait_ms: z.int(),
  run_ms: z.int(),
  cause: z.string().nullable().describe("What took most of the wait; of a queued job, what it waits for now"),
  parts: z
    .array(z.object({ cause: z.enum(CAUSES), ms: z.int() }))
    .readonly()
    .describe("Sums to wait and run together; empty where that is not kept, or too long to be cut for a list"),
}).openapi("JobRow") satisfies z.ZodType<JobRow>;

export const JobRowListSchema = pageOf(jobRow, "JobRowPage")
  .extend({
    scanned_to_ms: ms
      .nullable()
      .describe("Rows were looked at back to here and no further: what is older lies behind `last_id`"),
  })
  .openapi("JobRowList") satisfies z.ZodType<JobRowList>;
