// No `respond-async`: the connection is held until the answer is there. A hold that grows too long for clients' sockets
// ends in a redirect to the job's result, which holds on; before it the job is made durable.

import { isFinal, type Job } from "../domain/job.ts";
import type { Listener } from "../engine/relay.ts";
import type { Accepted, PreparedCall } from "../intake/intake.ts";
import type { Result } from "../store/store.ts";
import { givenUpByUs, onAbort } from "./closing.ts";
import { type Call, type HttpWorld, onDelivered } from "./deps.ts";
import { brokenOffError } from "./error-body.ts";
import { holdTimeMs, mayComeBack } from "./ladder.ts";
import { jobLocation, redirectResponse } from "./pending.ts";
import { storedAnswer } from "./stored-answer.ts";

interface Done {
  readonly job: Job;
  readonly result: Result | null;
}
type End = Done | "left" | "ending" | "late";

/** @param waitSeconds The caller's own `Prefer: wait=N`. */
export async function held(
  c: Call,
  world: HttpWorld,
  prepared: PreparedCall,
  waitSeconds: number | null,
): Promise<Response> {
  const orphanMs = orphanTimeMs(world, prepared);
  if (c.req.raw.signal.aborted && orphanMs === 0) return gaveUp(prepared);
  const startedAtMs = world.clock.nowMs();
  const wait = new Wait(c, world);
  const accepted = await world.intake.accept(prepared, "sync", wait.listener);
  c.set("job", accepted.job.id);
  if (isFinal(accepted.job.state.status)) wait.listener.done(accepted.job, accepted.result);
  const untilMs = world.settings.redirect ? startedAtMs + holdTimeMs(c, world, waitSeconds) : null;
  let end = await wait.first(untilMs);
  if (end === "late") {
    const kept = await accepted.keep();
    end = kept === null ? await wait.first(null) : await wait.first(world.clock.nowMs());
    if (kept !== null && end === "late") return sentOn(c, world, accepted, kept, prepared.endpoint);
  }
  accepted.detach();
  if (end === "left" || end === "ending" || end === "late") {
    accepted.hold?.drop(orphanMs);
    if (end === "ending") throw brokenOffError();
    return new Response(null, { status: 499 });
  }
  accepted.hold?.release();
  if (givenUpByUs(end.job)) throw brokenOffError();
  onDelivered(c, accepted.delivered);
  const inTime = waitSeconds !== null && world.clock.nowMs() - startedAtMs <= waitSeconds * 1000;
  return withHeaders(await storedAnswer(c, world, end.job, end.result), {
    ...replayHeaders(accepted),
    ...(inTime ? { "preference-applied": `wait=${waitSeconds}` } : {}),
  });
}

/** The job is durable and whoever follows is back in a moment; who does not, leaves it an orphan. */
function sentOn(c: Call, world: HttpWorld, accepted: Accepted, kept: Job, endpoint: string): Promise<Response> {
  accepted.detach();
  accepted.delivered();
  accepted.hold?.sendOn(world.settings.orphanMs);
  return redirectResponse(c, world, kept, {
    location: `${jobLocation(endpoint, kept)}/result?hop=1`,
    headers: replayHeaders(accepted),
  });
}

/** What happens first: the answer, the caller leaving, the router going down, or the end of the hold. */
class Wait {
  readonly listener: Listener;
  readonly #done: Promise<Done>;
  readonly #left: AbortSignal;
  readonly #world: HttpWorld;

  constructor(c: Call, world: HttpWorld) {
    this.#left = c.req.raw.signal;
    this.#world = world;
    let tell: (done: Done) => void = () => undefined;
    this.#done = new Promise((resolve) => {
      tell = resolve;
    });
    this.listener = { live: null, done: (job, result) => tell({ job, result }) };
  }

  /** @param untilMs Null: the hold has no end of its own. */
  first(untilMs: number | null): Promise<End> {
    return new Promise((resolve, reject) => {
      const stops: (() => void)[] = [];
      const settle = (end: End): void => {
        for (const stop of stops) stop();
        resolve(end);
      };
      this.#done.then(settle, reject);
      stops.push(onAbort(this.#left, () => settle("left")));
      const ending = this.#world.closing?.ending;
      if (ending !== undefined) stops.push(onAbort(ending, () => settle("ending")));
      if (untilMs === null) return;
      const timer = this.#world.clock.at(untilMs, () => settle("late"));
      stops.push(() => timer.cancel());
    });
  }
}

/** How long a job keeps its place when its caller leaves: one who can come back sent a key, or its SDK counts. */
export function orphanTimeMs(world: HttpWorld, { idempotency, retryCount }: PreparedCall): number {
  return mayComeBack(idempotency !== null, retryCount) ? world.settings.orphanMs : 0;
}

/** The caller left before its request became a job. */
export async function gaveUp(prepared: PreparedCall): Promise<Response> {
  await prepared.discard();
  return new Response(null, { status: 499 });
}

export function replayHeaders({ replayed }: Accepted): Record<string, string> {
  return replayed ? { "idempotency-replayed": "true" } : {};
}

export function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
