// An inference POST: read and checked by intake, made a job, answered in the way that `Prefer` and the body ask for.

import { isFinal } from "../domain/job.ts";
import type { PreparedCall } from "../intake/intake.ts";
import { callerOf } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { drainingError } from "./error-body.ts";
import { gaveUp, held, orphanTimeMs, replayHeaders, withHeaders } from "./held.ts";
import { LiveAnswer } from "./live-answer.ts";
import { longPoll } from "./long-poll.ts";
import { jobLocation, receiptResponse } from "./pending.ts";
import { type Preference, parsePrefer } from "./prefer.ts";
import { requestBody } from "./request-body.ts";
import { createResponse } from "./responses/create.ts";
import { storedAnswer } from "./stored-answer.ts";

/** @param endpoint The engine's path, e.g. `/v1/chat/completions`. */
export async function answerInference(c: Call, world: HttpWorld, endpoint: string): Promise<Response> {
  if (world.closing?.draining.aborted === true) throw drainingError();
  const { headers } = c.req.raw;
  const prepared = await world.intake.prepare({
    endpoint,
    caller: callerOf(c),
    header: (name) => headers.get(name),
    body: requestBody(c, world.clock),
  });
  if (prepared.fields.background && endpoint === "/v1/responses") return createResponse(c, world, prepared);
  const preference = parsePrefer(headers.get("prefer"));
  if (prepared.fields.stream) return streamed(c, world, prepared);
  return preference.respondAsync
    ? receipted(c, world, prepared, preference)
    : held(c, world, prepared, preference.waitSeconds);
}

/** `respond-async`: a receipt at once, or the answer where it comes within `wait`. */
async function receipted(c: Call, world: HttpWorld, prepared: PreparedCall, preference: Preference): Promise<Response> {
  const accepted = await world.intake.accept(prepared, "async");
  c.set("job", accepted.job.id);
  const waitMs = (preference.waitSeconds ?? 0) * 1000;
  const job = await longPoll(world, accepted.job, waitMs, c.req.raw.signal);
  const replayed = replayHeaders(accepted);
  if (waitMs > 0 && isFinal(job.state.status)) {
    const response = await storedAnswer(c, world, job, null);
    return withHeaders(response, { ...replayed, "preference-applied": `wait=${preference.waitSeconds}` });
  }
  return receiptResponse(c, world, job, {
    status: 202,
    location: jobLocation(prepared.endpoint, job),
    headers: { ...replayed, "preference-applied": "respond-async" },
  });
}

async function streamed(c: Call, world: HttpWorld, prepared: PreparedCall): Promise<Response> {
  const orphanMs = orphanTimeMs(world, prepared);
  if (c.req.raw.signal.aborted && orphanMs === 0) return gaveUp(prepared);
  const live = new LiveAnswer(c, world, prepared.endpoint, orphanMs);
  const accepted = await world.intake.accept(prepared, "sync", live);
  c.set("job", accepted.job.id);
  if (isFinal(accepted.job.state.status)) live.done(accepted.job, accepted.result);
  return withHeaders(await live.open(accepted), replayHeaders(accepted));
}
