// Hints, under /v1/hints.

import { z } from "@hono/zod-openapi";
import type { HintWire } from "../client/wire.ts";
import type { HttpWorld } from "./deps.ts";
import { HintRequestSchema } from "./hint-request.ts";
import { createHint, listHints, removeHint } from "./hints.ts";
import { json, type Route } from "./route.ts";
import { pageOf } from "./schemas.ts";

const unix = z.number().describe("Unix seconds");

export const HintSchema = z
  .object({
    id: z.string(),
    object: z.literal("hint"),
    model: z.string(),
    state: z
      .enum(["waiting", "due", "met", "missed"])
      .describe(
        "due: a load for it is worth while from now on; a daily hint is waiting again once it was met or missed",
      ),
    at: unix.describe("When the model is needed; of a daily hint the next time"),
    until: unix.nullable(),
    expires_at: unix.describe("When the need is over"),
    repeat: z.literal("daily").nullable(),
    jobs: z.int().nullable(),
    priority: z.int(),
    last: z.enum(["met", "missed"]).nullable().describe("How its last time ended"),
    acts: z.boolean().describe("False: preloading is off, or hints are stopped because too many were in vain"),
    created_at: unix,
  })
  .openapi("Hint") satisfies z.ZodType<HintWire>;

const page = pageOf(HintSchema, "HintList");
const deleted = z
  .object({ id: z.string(), object: z.literal("hint"), deleted: z.literal(true) })
  .openapi("DeletedHint");

export function hintRoutes(world: HttpWorld): Route[] {
  const tag = "hints";
  return [
    {
      method: "post",
      path: "/v1/hints",
      tag,
      summary: "Say beforehand that a model will be needed",
      body: { required: true, content: { "application/json": { schema: HintRequestSchema } } },
      answers: { 201: json(HintSchema, "Stored; it is kept through restarts") },
      handle: (c) => createHint(c, world),
    },
    {
      method: "get",
      path: "/v1/hints",
      tag,
      summary: "List hints",
      needs: null,
      answers: { 200: json(page, "All of them") },
      handle: (c) => listHints(c, world),
    },
    {
      method: "delete",
      path: "/v1/hints/{id}",
      tag,
      summary: "Take a hint back",
      answers: { 200: json(deleted, "It is gone; a load under way goes on") },
      handle: (c) => removeHint(c, world),
    },
  ];
}
