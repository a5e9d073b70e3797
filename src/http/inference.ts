// An inference POST: read and checked by intake, made a job, answered in the way that `Prefer` and the body ask for.

import { SirError } from "../domain/errors.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { Listener } from "../engine/relay.ts";
import type { Accepted, PreparedCall } from "../intake/intake.ts";
import type { Result } from "../store/store.ts";
import { callerOf } from "./caller.ts";
import { givenUpByUs, onAbort } from "./closing.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { drainingError } from "./error-body.ts";
import { LiveAnswer } from "./live-answer.ts";
import { longPoll } from "./long-poll.ts";
import { jobLocation, receiptResponse } from "./pending.ts";
import { type Preference, parsePrefer } from "./prefer.ts";
import { requestBody } from "./request-body.ts";
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
  if (prepared.fields.background && endpoint === "/v1/responses") return refuseBackground(prepared);
  const preference = parsePrefer(headers.get("prefer"));
  if (prepared.fields.stream) return streamed(c, world, prepared);
  return preference.respondAsync
    ? receipted(c, world, prepared, preference)
    : held(c, world, prepared, preference.waitSeconds);
}

async function refuseBackground(prepared: PreparedCall): Promise<never> {
  await prepared.discard();
  throw new SirError(
    "unsupported_endpoint",
    "Background responses are not served yet. Send the request without background, with `Prefer: respond-async`.",
    { param: "background" },
  );
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

interface Done {
  readonly job: Job;
  readonly result: Result | null;
}

/** No `respond-async`: the connection is held until the answer is there, and the job is given up when it closes. */
async function held(c: Call, world: HttpWorld, prepared: PreparedCall, waitSeconds: number | null): Promise<Response> {
  const orphanMs = orphanTimeMs(world, prepared);
  const { signal } = c.req.raw;
  if (signal.aborted && orphanMs === 0) return gaveUp(prepared);
  const startedAtMs = world.clock.nowMs();
  let tell: (done: Done) => void = () => undefined;
  const done = new Promise<Done>((resolve) => {
    tell = resolve;
  });
  const listener: Listener = { live: null, done: (job, result) => tell({ job, result }) };
  const accepted = await world.intake.accept(prepared, "sync", listener);
  c.set("job", accepted.job.id);
  if (isFinal(accepted.job.state.status)) tell({ job: accepted.job, result: null });
  const end = await firstOf(done, signal, world.closing?.ending);
  accepted.detach();
  if (end === "left" || end === "ending") {
    accepted.hold?.drop(orphanMs);
    if (end === "ending") throw drainingError();
    return new Response(null, { status: 499 });
  }
  accepted.hold?.release();
  if (givenUpByUs(end.job)) throw drainingError();
  const inTime = waitSeconds !== null && world.clock.nowMs() - startedAtMs <= waitSeconds * 1000;
  return withHeaders(await storedAnswer(c, world, end.job, end.result), {
    ...replayHeaders(accepted),
    ...(inTime ? { "preference-applied": `wait=${waitSeconds}` } : {}),
  });
}

/** What happens first: the answer, the caller leaving, or the router going down. */
function firstOf(done: Promise<Done>, left: AbortSignal, ending?: AbortSignal): Promise<Done | "left" | "ending"> {
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const settle = (end: Done | "left" | "ending"): void => {
      for (const stop of stops) stop();
      resolve(end);
    };
    done.then(settle, reject);
    stops.push(onAbort(left, () => settle("left")));
    if (ending !== undefined) stops.push(onAbort(ending, () => settle("ending")));
  });
}

async function streamed(c: Call, world: HttpWorld, prepared: PreparedCall): Promise<Response> {
  const orphanMs = orphanTimeMs(world, prepared);
  if (c.req.raw.signal.aborted && orphanMs === 0) return gaveUp(prepared);
  const live = new LiveAnswer(c, world, prepared.endpoint, orphanMs);
  const accepted = await world.intake.accept(prepared, "sync", live);
  c.set("job", accepted.job.id);
  if (isFinal(accepted.job.state.status)) live.done(accepted.job, null);
  return withHeaders(await live.open(accepted), replayHeaders(accepted));
}

/** A caller who can come back is one who sent a key, or whose SDK counts its repetitions. */
function orphanTimeMs(world: HttpWorld, { idempotency, retryCount }: PreparedCall): number {
  return idempotency === null && retryCount === null ? 0 : world.settings.orphanMs;
}

/** The caller left before its request became a job. */
async function gaveUp(prepared: PreparedCall): Promise<Response> {
  await prepared.discard();
  return new Response(null, { status: 499 });
}

function replayHeaders({ replayed }: Accepted): Record<string, string> {
  return replayed ? { "idempotency-replayed": "true" } : {};
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
