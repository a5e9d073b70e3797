// The shapes of `/v1/status` as zod schemas, held to the types of client/wire-status.ts by the compiler.

import { z } from "@hono/zod-openapi";
import type {
  DeviceNextWire,
  DeviceStatusWire,
  DeviceSummaryWire,
  LoadsWire,
  ModelStatusWire,
  PauseWire,
  StartsWire,
  StatusWire,
  TotalsWire,
} from "../client/wire-status.ts";
import { DecisionSchema, source } from "./schemas.ts";

const unix = z.number().describe("Unix seconds");
const seconds = z.number().describe("Seconds, fractions allowed");
const names = z.array(z.string()).readonly();

const waiting = z.object({
  cause: z.string(),
  rule: z.string().nullable(),
  by: z.string().nullable(),
  device: z.string().nullable(),
  decision: z.string().nullable(),
  since: unix,
});

const predicted = z.object({ hits: z.int(), predictions: z.int() });

const forecast = z
  .object({
    burst: z.number(),
    expected: z.array(
      z.object({ source, due_at: unix, probability: z.number(), acts: z.boolean().describe("False: only watched") }),
    ),
    cron: predicted,
    daily: predicted,
  })
  .openapi("Forecast");

const range = { low: unix.nullable(), mid: unix.nullable(), high: unix.nullable(), bound: unix.nullable() };

const starts = z.object({ ...range, last: unix.nullable() }).openapi("Starts") satisfies z.ZodType<StartsWire>;

const loads = z
  .object({
    guess_seconds: seconds.describe("The configuration's"),
    median_seconds: seconds.nullable(),
    p90_seconds: seconds.nullable(),
    count: z.int(),
    last_seconds: z.array(seconds).describe("The newest fourteen, oldest first"),
    failures: z.array(z.object({ at: unix, error: z.string() })).describe("Newest first, five at most"),
  })
  .openapi("Loads") satisfies z.ZodType<LoadsWire>;

const pause = z
  .object({
    scope: z.enum(["router", "device", "model"]),
    subject: z.string().nullable().describe("The device or model; null of the router"),
    who: z.string().describe("A key's name; `local` where there are no keys"),
    note: z.string().nullable(),
    since: unix,
  })
  .openapi("Pause") satisfies z.ZodType<PauseWire>;

export const ModelStatusSchema = z
  .object({
    id: z.string(),
    label: z.string(),
    aliases: names,
    state: z.string(),
    device: z.string().nullable(),
    devices: names,
    homes: names.describe("Every device it may be loaded on; empty: it is always on elsewhere"),
    memory_gib: z.number().nullable().describe("As configured, over all its devices"),
    measured_gib: z.number().nullable().describe("What its last load was seen to take"),
    since: unix.nullable(),
    pinned: z.boolean(),
    paused: z.boolean(),
    pause: pause.nullable().describe("What keeps its jobs from starting: of it, of what it needs, or of the router"),
    queued: z.object({ interactive: z.int(), normal: z.int(), batch: z.int() }),
    oldest_wait_seconds: seconds,
    running: z.int(),
    concurrency: z.int(),
    load_seconds: seconds,
    load_failures: z.int(),
    retry_at: unix.nullable(),
    last_error: z.string().nullable(),
    waiting: waiting.nullable(),
    forecast: forecast.nullable(),
    driver: z.string(),
    starts: starts.nullable().describe("Null: nothing waits for it"),
    loads,
    wait_p50_seconds: seconds.nullable().describe("Of jobs that began in the last hour"),
    wait_p95_seconds: seconds.nullable(),
  })
  .openapi("ModelStatus") satisfies z.ZodType<ModelStatusWire>;

const summary = z
  .object({
    text: z.string(),
    what_length: z.int().describe("How much of the text says what it does; the rest says why. UTF-16 units"),
    code: z.string(),
    decision: z.string().nullable(),
  })
  .openapi("DeviceSummary") satisfies z.ZodType<DeviceSummaryWire>;

const next = z
  .object({ model: z.string(), ...range, text: z.string() })
  .openapi("DeviceNext") satisfies z.ZodType<DeviceNextWire>;

const totals = z
  .object({
    waiting: z.int(),
    running: z.int(),
    done_1h: z.int(),
    failed_1h: z.int(),
    lapsed_1h: z.int().describe("Cancelled because nobody polled them before their lease ran out"),
    estimate_error_1h: z.number().nullable().describe("Median of |actual - estimate| / actual"),
    longest_wait: z.object({ model: z.string(), seconds, cause: z.string() }).nullable(),
  })
  .openapi("Totals") satisfies z.ZodType<TotalsWire>;

const device = z
  .object({
    id: z.string(),
    phase: z.string(),
    models: names,
    memory_gib: z.number().nullable(),
    claimed_gib: z.number().nullable(),
    since: unix,
    paused: z.boolean(),
    pause: pause.nullable().describe("Of it, or of the router"),
    decision: DecisionSchema.nullable(),
    preload_left_seconds: seconds.nullable(),
    summary: summary.describe("What it does and why, in words"),
    next: next.nullable().describe("What it is expected to do next; never guessed"),
    swap_share_1h: z.number().describe("Share of the last hour spent draining, unloading and loading, 0 to 1"),
    swaps_1h: z.int(),
  })
  .openapi("DeviceStatus") satisfies z.ZodType<DeviceStatusWire>;

const record = z.object({ hits: z.int(), misses: z.int(), paused_until: unix.nullable() });

export const StatusSchema = z
  .object({
    object: z.literal("status"),
    seq: z.int().describe("Of the stream's last frame when this was true"),
    boot: z.string().describe("Of the router that answered; another one's frames do not follow on"),
    started_at: unix,
    at: unix,
    time_zone: z.string().describe("Of the router; times of day in sentences are told by it"),
    totals,
    version: z.string(),
    policy: z.string(),
    paused: z.boolean(),
    pause: pause.nullable().describe("Of the whole router"),
    draining: z.boolean(),
    queued: z.int(),
    running: z.int(),
    models: z.array(ModelStatusSchema),
    devices: z.array(device),
    preloading: z.object({
      mode: z.union([z.literal("auto"), z.literal("hints"), z.literal(false)]),
      hint: record,
      learned: record,
    }),
    store: z.object({ jobs: z.int(), stored_bytes: z.int(), wal_bytes: z.int() }),
  })
  .openapi("Status") satisfies z.ZodType<StatusWire>;
