// Jobs, under /v1/jobs and the same under /jobs.

import { z } from "@hono/zod-openapi";
import { CancelListSchema, CancelRequestSchema, cancelJobs } from "./cancel-jobs.ts";
import type { HttpWorld } from "./deps.ts";
import { explainJob } from "./explain.ts";
import { jobEvents } from "./job-events.ts";
import { listJobs } from "./job-list.ts";
import { cancelJob, deleteJob, readJob, readResult } from "./jobs.ts";
import { eventsQuery, jobsQuery, resultQuery, waitHeaders, waitQuery } from "./parameters.ts";
import { json, opaque, type Route } from "./route.ts";
import { pageOf, ReceiptSchema } from "./schemas.ts";
import { ExplanationSchema } from "./schemas-explain.ts";
import { JobRowListSchema } from "./schemas-live.ts";

const receipt = { 200: json(ReceiptSchema, "The receipt") };
const page = z.union([pageOf(ReceiptSchema, "JobList"), JobRowListSchema]);
const result = {
  query: resultQuery,
  headers: waitHeaders,
  answers: {
    200: opaque("The stored answer; a failed or cancelled job has its own status, and SIR-Job-Status says which"),
    202: json(ReceiptSchema, "Asked with a wait, and not over yet"),
    303: json(ReceiptSchema, "Asked without a wait, held, and not over yet: `Location` holds on"),
  },
};

export function jobRoutes(world: HttpWorld): Route[] {
  return ["/v1/jobs", "/jobs"].flatMap((base) => routesUnder(base, world));
}

function routesUnder(base: string, world: HttpWorld): Route[] {
  const tag = "jobs";
  return [
    {
      method: "get",
      path: base,
      tag,
      summary: "List jobs",
      query: jobsQuery,
      answers: { 200: json(page, "One page") },
      handle: (c) => listJobs(c, world),
    },
    {
      method: "post",
      path: `${base}/cancel`,
      tag,
      summary: "Cancel up to a hundred jobs by their ids; what is over already stays as it is",
      body: { required: true, content: { "application/json": { schema: CancelRequestSchema } } },
      answers: { 200: json(CancelListSchema, "What became of each, in the order of the ids") },
      handle: (c) => cancelJobs(c, world),
    },
    {
      method: "get",
      path: `${base}/{id}`,
      tag,
      summary: "Read a job; renews its lease",
      query: waitQuery,
      headers: waitHeaders,
      answers: { ...receipt, 304: { description: "A final receipt that the caller has already" } },
      handle: (c) => readJob(c, world),
    },
    {
      method: "delete",
      path: `${base}/{id}`,
      tag,
      summary: "Cancel a live job; remove the content of a final one",
      answers: receipt,
      handle: (c) => deleteJob(c, world),
    },
    {
      method: "get",
      path: `${base}/{id}/result`,
      tag,
      summary: "The answer, as its caller would have had it",
      ...result,
      handle: (c) => readResult(c, world),
    },
    {
      method: "post",
      path: `${base}/{id}/result`,
      tag,
      summary: "The same, for clients that repeat their method",
      ...result,
      handle: (c) => readResult(c, world),
    },
    {
      method: "get",
      path: `${base}/{id}/events`,
      tag,
      summary: "The job's life as server-sent events",
      query: eventsQuery,
      answers: { 200: opaque("Ends after the job's end", "text/event-stream") },
      handle: (c) => jobEvents(c, world),
    },
    {
      method: "get",
      path: `${base}/{id}/explain`,
      tag,
      summary: "Where its time went, and why; no poll",
      answers: { 200: json(ExplanationSchema, "The explanation, also of a live job") },
      handle: (c) => explainJob(c, world),
    },
    {
      method: "post",
      path: `${base}/{id}/cancel`,
      tag,
      summary: "Cancel a job; changes nothing when it is over",
      answers: receipt,
      handle: (c) => cancelJob(c, world),
    },
  ];
}
