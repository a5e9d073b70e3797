// The redirect ladder: `GET /v1/jobs/{id}/result?hop=n` holds as its first request did and, when that is too long for
// clients' sockets, sends its caller on to the next hop. Each hop has a URL of its own: some clients refuse to visit one
// twice.

import { isFinal, type Job } from "../domain/job.ts";
import { ownJob, polledJob } from "./caller.ts";
import { type Call, type HttpWorld, socketOf } from "./deps.ts";
import { brokenOffError, invalidQuery } from "./error-body.ts";
import { redirectResponse } from "./pending.ts";
import { parsePrefer } from "./prefer.ts";
import { storedAnswer, withJobStatus } from "./stored-answer.ts";

/** Of the time after which the SDK gives up, so that the redirect comes first. */
const PART_OF_TIMEOUT = 0.9;
const COUNTED = /^\d{1,6}$/;
const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;

/** How long this request is held: as configured or as `wait` asks, and never to the end of its SDK's patience. */
export function holdTimeMs(c: Call, world: HttpWorld, waitSeconds: number | null): number {
  const { headers } = c.req.raw;
  let holdMs = waitSeconds === null ? world.settings.holdMs : waitSeconds * 1000;
  for (const name of ["x-stainless-timeout", "x-stainless-read-timeout"]) {
    const text = headers.get(name)?.trim() ?? "";
    const timeoutMs = SECONDS.test(text) ? Number(text) * 1000 : 0;
    if (timeoutMs > 0) holdMs = Math.min(holdMs, timeoutMs * PART_OF_TIMEOUT);
  }
  return holdMs;
}

export function mayComeBack(hasKey: boolean, retryCount: number | null): boolean {
  return hasKey || retryCount !== null;
}

/** @throws {SirError} invalid_query */
export function readHop(c: Call): number | null {
  const text = c.req.query("hop");
  if (text === undefined) return null;
  if (!COUNTED.test(text)) throw invalidQuery("hop", '"hop" must be a whole number; it is the router that counts.');
  return Number(text);
}

/**
 * One hop. For a job that only sockets want, this one is its lease: when it closes the job is an orphan, as after its
 * first request. For any other it is a poll.
 */
export async function climb(c: Call, world: HttpWorld, hop: number): Promise<Response> {
  const found = await ownJob(c, world);
  const socketOnly = found.origin === "socket";
  if (!socketOnly) await polledJob(c, world);
  const { waitSeconds } = parsePrefer(c.req.raw.headers.get("prefer"));
  const job = isFinal(found.state.status) ? found : await heldHop(c, world, found, holdTimeMs(c, world, waitSeconds));
  if (job === "left") return new Response(null, { status: 499 });
  if (isFinal(job.state.status)) return withJobStatus(await storedAnswer(c, world, job, null), job);
  return redirectResponse(c, world, job, { location: `result?hop=${hop + 1}` });
}

async function heldHop(c: Call, world: HttpWorld, job: Job, holdMs: number): Promise<Job | "left"> {
  const { engine, clock, closing, settings } = world;
  const { signal: left, headers } = c.req.raw;
  const hold = engine.hold(job.id);
  const until = closing === undefined ? left : AbortSignal.any([left, closing.ending]);
  const final = await engine.finished(job.id, clock.nowMs() + holdMs, until);
  const asked = c.req.method === "HEAD" || mayComeBack(headers.has("idempotency-key"), retryCountOf(headers));
  if (final !== null) hold.release();
  else if (job.origin !== "socket") hold.release();
  else if (until.aborted) hold.drop(asked ? settings.orphanMs : 0);
  else hold.sendOn(settings.orphanMs);
  if (final !== null) return final;
  if (left.aborted || socketOf(c).outgoing?.destroyed === true) return "left";
  if (closing?.ending.aborted === true) throw brokenOffError();
  return (await world.store.job(job.id)) ?? job;
}

function retryCountOf(headers: Headers): number | null {
  const text = headers.get("x-stainless-retry-count")?.trim() ?? "";
  return COUNTED.test(text) ? Number(text) : null;
}
