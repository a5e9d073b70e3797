// The wire's shapes as zod schemas, for the OpenAPI document. The compiler holds them to the types of client/wire.ts.

import { z } from "@hono/zod-openapi";
import type { DecisionWire, ErrorBody, ModelWire, QueueWire, Receipt } from "../client/wire.ts";
import type { LogsWire, ReadyWire } from "../client/wire-status.ts";

const unix = z.number().describe("Unix seconds");
const seconds = z.number().describe("Seconds, fractions allowed");
const names = z.array(z.string()).readonly();

export const ErrorSchema = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
  })
  .openapi("Error") satisfies z.ZodType<ErrorBody>;

const queue = z
  .object({
    position: z.int().nullable().describe("0 is next of its model"),
    queued: z.int().describe("Jobs that wait for its model, this one among them"),
    resident: z.boolean(),
    needs_swap: z.boolean(),
    load_seconds: seconds,
    dispatch_within_seconds: seconds
      .nullable()
      .describe(
        "The bound that the policy states on when its model is loaded at the latest: by its ceiling (maxWaitSeconds), or under stint by visitSeconds. Null: it states none (fifo, serial and longest without a ceiling; stint where a device holds several models)",
      ),
    estimated_seconds: seconds.nullable().describe("Until the answer is ready; an estimate"),
    estimate: z
      .object({
        low_seconds: seconds,
        mid_seconds: seconds,
        high_seconds: seconds,
        observations: z.int().describe("Earlier outcomes of such estimates that it is made from"),
      })
      .nullable()
      .describe("Eight of ten answers come between; null below 20 outcomes"),
    start: z
      .object({ low_seconds: seconds, mid_seconds: seconds, high_seconds: seconds, observations: z.int() })
      .nullable()
      .describe("Until it starts, if nothing new arrives: eight of ten starts come between; null below 20 outcomes"),
    because: z
      .string()
      .nullable()
      .describe(
        "Only in events: why its start is expected later than was said before, e.g. `3 interactive jobs arrived`",
      ),
    deadline_feasible: z
      .boolean()
      .nullable()
      .describe("Whether that lies before the deadline; null without a deadline, and while there is no estimate"),
    blocked: z.object({ reason: z.string(), retry_at: unix.nullable() }).nullable(),
    loading: z
      .object({ model: z.string(), phase: z.string(), progress: z.number().nullable(), since: unix })
      .nullable(),
    as_of: unix,
  })
  .openapi("QueuePlace") satisfies z.ZodType<QueueWire>;

const statusWord = z.enum(["queued", "in_progress", "completed", "failed", "cancelled", "expired"]);

export const ReceiptSchema = z
  .object({
    id: z.string(),
    object: z.literal("job"),
    status: statusWord,
    endpoint: z.string(),
    model: z.string(),
    created_at: unix,
    started_at: unix.nullable(),
    completed_at: unix.nullable(),
    expires_at: unix.nullable().describe("When the answer will be removed"),
    priority: z.int(),
    attempts: z.int(),
    interruptions: z.int(),
    metadata: z.record(z.string(), z.string()),
    trace_id: z.string().nullable(),
    queue: queue.nullable(),
    lease: z.object({ seconds, expires_at: unix.nullable() }).nullable(),
    retry_after: z.int().nullable().describe("Whole seconds until the next poll"),
    response: z
      .object({
        status_code: z.int(),
        request_id: z.string(),
        body: z.unknown().describe("The engine's own JSON, unchanged; null when it is not JSON or larger than 1 MiB"),
        content_type: z.string().exactOptional(),
        bytes: z.int().exactOptional(),
      })
      .nullable(),
    error: z
      .object({
        message: z.string(),
        type: z.string(),
        param: z.string().nullable(),
        code: z.string(),
        reason: z.enum(["client", "lease_expired", "deadline", "admin", "disconnect"]).exactOptional(),
      })
      .nullable(),
    urls: z.object({ self: z.string(), result: z.string(), events: z.string(), cancel: z.string() }),
  })
  .openapi("Receipt") satisfies z.ZodType<Receipt>;

export const ModelSchema = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: unix,
    owned_by: z.string(),
    sir: z.object({
      label: z.string(),
      aliases: names,
      state: z.string(),
      resident: z.boolean(),
      device: z.string().nullable(),
      devices: names,
      memory_gib: z.number().nullable(),
      measured_gib: z.number().nullable(),
      load_seconds: seconds,
      queued: z.int(),
      running: z.int(),
      pinned: z.boolean(),
      retry_at: unix.nullable(),
    }),
  })
  .openapi("Model") satisfies z.ZodType<ModelWire>;

const scored = z
  .object({
    model: z.string(),
    depth: z.int(),
    oldest_wait_seconds: seconds,
    priority: z.number(),
    switch_cost: z.number(),
    score: z.number().nullable(),
    eligible: z.boolean(),
    why_not: z.string().nullable(),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean(), z.null()]));

export const source = z.enum(["hint", "cron", "daily"]);

const preload = z
  .object({
    source,
    hint: z.string().nullable(),
    due_at: unix,
    probability: z.number(),
    burst: z.number().describe("Summed weight of the jobs that come while a load would run"),
    load_seconds: seconds,
    gain: z.number(),
    price: z.number(),
    risk: z.number(),
    margin: z.number().describe("The gain exceeds so many times price plus risk"),
    left_seconds: seconds,
  })
  .openapi("PreloadTerms");

export const DecisionSchema = z
  .object({
    id: z.string(),
    object: z.literal("decision"),
    at: unix,
    kind: z.enum(["swap", "load", "hold", "idle", "preload", "unload"]),
    reason: z.string(),
    guard: z.string().nullable(),
    policy: z.string(),
    device: z.string(),
    load: z.string().nullable(),
    evict: names,
    resident: z.array(z.object({ model: z.string(), for_seconds: seconds, idle_seconds: seconds })),
    models: z.array(scored).describe("Beside the fixed keys stand the policy's own addends, e.g. age_term, depth_term"),
    jobs: names,
    preload: preload.nullable().describe("Only where a model was loaded ahead of need"),
    about: z.string().nullable(),
    numbers: z.record(z.string(), z.number()).describe("What the rule compared, by name, e.g. saves and costs"),
    budget: z
      .object({ before_seconds: seconds, after_seconds: seconds })
      .nullable()
      .describe("Seconds of loading that may be spent on cutting into unfinished queues"),
    next_look_at: unix.nullable(),
    sentence: z.string(),
    asked_by: z
      .string()
      .nullable()
      .describe("The caller who asked for it by hand; null: nobody, or it is not shown to you"),
    times: z.int().describe("How many looks came to the same: a stay that lasts is one decision"),
    last_at: unix.describe("The last of them"),
    trail: z
      .array(z.object({ at: unix, scores: z.record(z.string(), z.number().nullable()) }))
      .describe("The scores while it lasted, oldest first, 120 at most"),
  })
  .openapi("Decision") satisfies z.ZodType<DecisionWire>;

export const ReadySchema = z
  .object({ status: z.enum(["ready", "not_ready"]), problems: names })
  .openapi("Readiness") satisfies z.ZodType<ReadyWire>;

export const LogsSchema = z
  .object({ object: z.literal("logs"), model: z.string(), lines: names })
  .openapi("Logs") satisfies z.ZodType<LogsWire>;

/** A page of anything. */
export function pageOf<T extends z.ZodType>(item: T, name: string) {
  return z
    .object({
      object: z.literal("list"),
      data: z.array(item),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    })
    .openapi(name);
}

export const HistorySchema = z
  .object({
    object: z.literal("list"),
    data: z.array(z.looseObject({})),
    next: z.string().nullable().describe("For `after`; null: this was the last page"),
  })
  .openapi("History");
