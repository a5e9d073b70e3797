// Batches, under /v1/batches.

import { z } from "@hono/zod-openapi";
import { BATCH_ENDPOINTS } from "../batches/desk.ts";
import { BATCH_STATUSES } from "../domain/batch.ts";
import { cancelBatch, createBatch, listBatches, readBatch } from "./batches.ts";
import type { HttpWorld } from "./deps.ts";
import { json, type Route } from "./route.ts";
import { pageOf } from "./schemas.ts";

const unix = z.number().describe("Unix seconds");
const unixOrNull = unix.nullable();
const metadata = z.record(z.string(), z.string());

export const BatchSchema = z
  .object({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable().describe("From 1; null: about the file as a whole"),
          }),
        ),
      })
      .nullable(),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum(BATCH_STATUSES),
    output_file_id: z.string().nullable().describe("Lines answered with 2xx; null when there are none"),
    error_file_id: z.string().nullable().describe("All other lines; null when there are none"),
    created_at: unix,
    in_progress_at: unixOrNull,
    expires_at: unix,
    finalizing_at: unixOrNull,
    completed_at: unixOrNull,
    failed_at: unixOrNull,
    expired_at: unixOrNull,
    cancelling_at: unixOrNull,
    cancelled_at: unixOrNull,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    metadata,
  })
  .openapi("Batch");

const request = {
  description: "An uploaded file of requests, one JSON object a line: custom_id, method, url, body.",
  required: true,
  content: {
    "application/json": {
      schema: z
        .looseObject({
          input_file_id: z.string(),
          endpoint: z.enum(BATCH_ENDPOINTS),
          completion_window: z.string().describe("Minutes, hours or days, 1m to 30d: the deadline of every request"),
          metadata: metadata.optional(),
          output_expires_after: z.object({ anchor: z.literal("created_at"), seconds: z.int() }).optional(),
        })
        .openapi("BatchRequest"),
    },
  },
};

const query = z.object({
  limit: z.int().min(1).max(100).default(20).optional(),
  after: z.string().optional().describe("The id of the batch after which the page begins"),
});

export function batchRoutes(world: HttpWorld): Route[] {
  const { batches } = world;
  if (batches === undefined) return [];
  const tag = "batches";
  const one = { 200: json(BatchSchema, "The batch") };
  const [path, byId] = ["/v1/batches", "/v1/batches/{id}"];
  return [
    {
      ...{ method: "post", path, tag, summary: "Make a batch of an uploaded file", body: request, answers: one },
      handle: (c) => createBatch(c, world, batches),
    },
    {
      ...{ method: "get", path, tag, summary: "List batches", query },
      answers: { 200: json(pageOf(BatchSchema, "BatchList"), "A page, newest first") },
      handle: (c) => listBatches(c, world),
    },
    {
      ...{ method: "get", path: byId, tag, summary: "Read a batch", answers: one },
      handle: (c) => readBatch(c, world),
    },
    {
      ...{ method: "post", path: `${byId}/cancel`, tag, summary: "Cancel a batch; what is done stays", answers: one },
      handle: (c) => cancelBatch(c, batches),
    },
  ];
}
