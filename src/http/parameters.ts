// Query parameters and headers as the OpenAPI document describes them. What they mean is read in query.ts and intake.

import { z } from "@hono/zod-openapi";

export const idParam = z.object({ id: z.string() });

export const engineBody = {
  description: 'The engine\'s own request, forwarded byte for byte. Only "model" must be there.',
  required: true,
  content: {
    "application/json": { schema: z.looseObject({ model: z.string() }).openapi("EngineRequest") },
    "multipart/form-data": { schema: z.looseObject({ model: z.string() }).openapi("EngineForm") },
  },
};

export const inferenceHeaders = z.object({
  prefer: z.string().optional().describe("`respond-async`, `wait=N` (seconds, 0 to 60), or both"),
  "idempotency-key": z.string().optional().describe("Repeating a request with the same key does it once"),
  "sir-priority": z.string().optional().describe("interactive, normal, batch or a signed integer"),
  "cancel-after": z.string().optional().describe("Deadline from acceptance, e.g. 90s, 5m, 1h30m"),
  "sir-infeasible": z
    .enum(["refuse", "accept"])
    .optional()
    .describe("What becomes of a deadline that the present backlog does not allow: refused, or queued all the same"),
  "sir-lease": z.string().optional().describe("Seconds within which the job must be polled, or none"),
  traceparent: z.string().optional(),
  "x-client-request-id": z.string().optional(),
});

export const waitHeaders = z.object({ prefer: z.string().optional().describe("`wait=N`, seconds, 0 to 60") });
export const waitQuery = z.object({ wait: z.number().min(0).max(60).optional().describe("Seconds; wins over Prefer") });

export const resultQuery = waitQuery.extend({
  hop: z.int().min(0).optional().describe("Counts the steps of a redirect ladder; each has a URL of its own"),
});

const limit = z.int().min(1).max(100).default(20);

export const jobsQuery = z.object({
  view: z.enum(["receipts", "rows"]).optional().describe("`rows`: as operators list them, with where the time went"),
  status: z.string().optional().describe("One status or several, separated by commas"),
  model: z.string().optional(),
  after: z.string().optional().describe("The id of the job after which the page begins"),
  limit: limit.optional(),
  order: z.enum(["desc", "asc"]).optional(),
  include: z.enum(["response"]).optional(),
  band: z.enum(["interactive", "normal", "batch"]).optional().describe("This and the following only with `view=rows`"),
  caller: z.string().optional(),
  cause: z.string().optional().describe("What took most of the wait; of a queued job, what it waits for now"),
  q: z.string().optional().describe("How the job's id begins, or the caller's own id of the request, exactly"),
  sort: z.enum(["newest", "wait"]).optional().describe("`wait`: longest first, inside the window"),
  from_ms: z.number().optional().describe("Unix milliseconds; with `sort=wait` two hours ago when absent"),
  to_ms: z.number().optional().describe("Unix milliseconds"),
  "metadata[key]": z.string().optional().describe("Jobs whose metadata has this value under `key`"),
});

export const decisionsQuery = z.object({
  limit: limit.optional(),
  after: z.string().optional(),
  before: z.number().optional().describe("Unix seconds: those made before that instant"),
  model: z.string().optional(),
  job: z.string().optional(),
  kind: z.string().optional().describe("One or several, separated by commas: swap, load, preload, unload, hold, idle"),
  reason: z.string().optional(),
  device: z.string().optional(),
});

export const eventsQuery = z.object({ after: z.string().optional().describe("As the Last-Event-ID header") });
export const deviceQuery = z.object({ device: z.string().optional().describe("Absent: the whole router") });
export const forceQuery = z.object({ force: z.enum(["true", "false"]).optional().describe("Without a drain") });
export const linesQuery = z.object({ lines: z.int().min(1).max(10_000).default(200).optional() });
export const historyQuery = z.object({
  from_ms: z.number().optional().describe("Unix milliseconds, included"),
  to_ms: z.number().optional().describe("Unix milliseconds, not included"),
  after: z.string().optional().describe("A page's `next`"),
  limit: z.int().min(1).max(1_000).default(200).optional(),
});

const window = {
  from_ms: z.number().optional().describe("Unix milliseconds; two hours before the end when absent"),
  to_ms: z.number().optional().describe("Unix milliseconds; now when absent. At most eight days are shown at once"),
};
export const timelineQuery = z.object({
  ...window,
  px: z.int().min(100).max(10_000).default(1_000).optional().describe("How wide the picture is, in pixels"),
  device: z.string().optional(),
});
export const seriesQuery = z.object({
  name: z.enum(["queue_depth"]).optional(),
  ...window,
  step_ms: z.int().default(60_000).optional().describe("In whole minutes, rounded up"),
});
