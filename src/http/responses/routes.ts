// Background responses: read, followed, cancelled and deleted where OpenAI's clients look for them.

import { z } from "@hono/zod-openapi";
import { isFinal, type Job } from "../../domain/job.ts";
import type { Call, HttpWorld } from "../deps.ts";
import { invalidQuery } from "../error-body.ts";
import { json, type Route } from "../route.ts";
import { followResponse, responseJson } from "./follow.ts";
import { cancellable, factsOf, ownResponse, responseId } from "./stored-response.ts";

const ResponseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int(),
    status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
    background: z.literal(true),
    output: z.array(z.unknown()),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .openapi("Response");
const DeletedSchema = z
  .object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) })
  .openapi("DeletedResponse");
const query = z.object({
  stream: z
    .enum(["true", "false"])
    .optional()
    .describe("Events instead, for a response that was made with stream: true"),
  starting_after: z.int().min(0).optional().describe("With stream: only events with a higher sequence_number"),
});
const COUNT = /^\d{1,15}$/;

export function responseRoutes(world: HttpWorld): Route[] {
  const tag = "responses";
  const path = "/v1/responses/{id}";
  const answers = { 200: json(ResponseSchema, "The response as it is now, in OpenAI's shape") };
  return [
    {
      ...{ method: "get", path, tag, query, answers },
      summary: "Read or follow a background response",
      handle: (c) => readResponse(c, world),
    },
    {
      ...{ method: "delete", path, tag, answers: { 200: json(DeletedSchema, "It is gone") } },
      summary: "Delete a background response; cancels it first",
      handle: (c) => deleteResponse(c, world),
    },
    {
      ...{ method: "post", path: `${path}/cancel`, tag, answers },
      summary: "Cancel a background response; changes nothing when it is over",
      handle: (c) => cancelResponse(c, world),
    },
  ];
}

async function readResponse(c: Call, world: HttpWorld): Promise<Response> {
  const after = readAfter(c);
  const job = await ownResponse(c, world);
  const facts = await factsOf(world, job);
  if (c.req.query("stream") !== "true") return responseJson(c, world, job, facts);
  if (!job.stream) {
    throw invalidQuery(
      "stream",
      "This response was not made with stream: true, so it has no events. Read it without stream.",
    );
  }
  return followResponse(c, world, job, facts, { after });
}

/** @throws {SirError} invalid_query */
function readAfter(c: Call): number {
  const text = c.req.query("starting_after");
  if (text === undefined) return -1;
  if (!COUNT.test(text)) throw invalidQuery("starting_after", '"starting_after" must be an event\'s sequence_number.');
  return Number(text);
}

async function cancelResponse(c: Call, world: HttpWorld): Promise<Response> {
  const job = await ended(world, await cancellable(c, world));
  return responseJson(c, world, job, await factsOf(world, job));
}

async function deleteResponse(c: Call, world: HttpWorld): Promise<Response> {
  const job = await ended(world, await ownResponse(c, world));
  await world.store.purge(job.id);
  return c.json({ id: responseId(job), object: "response", deleted: true });
}

async function ended(world: HttpWorld, job: Job): Promise<Job> {
  if (isFinal(job.state.status)) return job;
  const end = await world.engine.cancel(job.id, "client");
  return end?.job ?? (await world.store.job(job.id)) ?? job;
}
