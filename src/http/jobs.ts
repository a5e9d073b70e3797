// One job over HTTP: its receipt, its answer, its end. Reading is the proof that somebody still wants the answer.

import { isFinal, type Job } from "../domain/job.ts";
import { isOwn, operableJob, polledJob, seenJob } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { climb, holdTimeMs, readHop } from "./ladder.ts";
import { longPoll } from "./long-poll.ts";
import { receiptResponse, redirectResponse } from "./pending.ts";
import { readWait } from "./query.ts";
import { receiptTag } from "./receipt.ts";
import { storedAnswer, VARY, withJobStatus } from "./stored-answer.ts";

/**
 * `GET /v1/jobs/{id}`, at once or after a long poll; a final receipt has an ETag. An observer's look at somebody else's
 * job renews no lease and shows no answer.
 */
export async function readJob(c: Call, world: HttpWorld): Promise<Response> {
  const { waitMs, applied } = readWait(c);
  const seen = await seenJob(c, world);
  const found = isOwn(c, seen) ? await polledJob(c, world) : seen;
  const job = await longPoll(world, found, waitMs ?? 0, c.req.raw.signal);
  if (!isFinal(job.state.status)) return receiptResponse(c, world, job, { status: 200, headers: applied });
  const etag = receiptTag(job);
  if (!matches(c.req.raw.headers.get("if-none-match"), etag)) {
    return receiptResponse(c, world, job, { status: 200, headers: { ...applied, etag } });
  }
  return new Response(null, { status: 304, headers: { etag, "cache-control": "no-store", vary: VARY } });
}

function matches(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === etag);
}

/**
 * `GET` or `POST /v1/jobs/{id}/result`: the stored answer. While there is none: with a wait the receipt as 202, without one
 * the next step of the ladder.
 */
export async function readResult(c: Call, world: HttpWorld): Promise<Response> {
  const hop = readHop(c);
  if (hop !== null) return climb(c, world, hop);
  const { waitMs, applied } = readWait(c);
  const found = await polledJob(c, world);
  const job = await longPoll(world, found, waitMs ?? holdTimeMs(c, world, null), c.req.raw.signal);
  if (isFinal(job.state.status)) {
    const response = withJobStatus(await storedAnswer(c, world, job, null), job);
    for (const [name, value] of Object.entries(applied)) response.headers.set(name, value);
    return response;
  }
  if (waitMs === null && world.settings.redirect) return redirectResponse(c, world, job, { location: "result?hop=1" });
  return receiptResponse(c, world, job, { status: 202, location: `../${job.id}`, headers: applied });
}

/** `POST /v1/jobs/{id}/cancel`: 200 with the receipt, however often it is asked and whatever it finds. */
export async function cancelJob(c: Call, world: HttpWorld): Promise<Response> {
  return receiptResponse(c, world, await cancelled(c, world, await operableJob(c, world)), { status: 200 });
}

/** `DELETE /v1/jobs/{id}`: cancels a live job, removes the content of a final one. */
export async function deleteJob(c: Call, world: HttpWorld): Promise<Response> {
  const job = await operableJob(c, world);
  const after = isFinal(job.state.status) ? await world.store.purge(job.id) : await cancelled(c, world, job);
  return receiptResponse(c, world, after ?? job, { status: 200 });
}

async function cancelled(c: Call, world: HttpWorld, job: Job): Promise<Job> {
  if (isFinal(job.state.status)) return job;
  const ended = await world.engine.cancel(job.id, isOwn(c, job) ? "client" : "admin");
  return ended?.job ?? (await world.store.job(job.id)) ?? job;
}
