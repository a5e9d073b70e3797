// A background response as a stream of events: what came so far from the first event on, then what comes. Reading it costs
// the job nothing: who leaves, cancels nothing, and who takes too slowly is dropped.

import type { Timer } from "../../domain/clock.ts";
import { isFinal, type Job } from "../../domain/job.ts";
import type { Listener, Live } from "../../engine/relay.ts";
import { EventReader } from "../../responses/event-reader.ts";
import { type Json, textOf } from "../../responses/json.ts";
import { type Facts, frameOf, OwnEvents } from "../../responses/own-events.ts";
import type { Result } from "../../store/store.ts";
import { onAbort } from "../closing.ts";
import { type Call, type HttpWorld, onDelivered, socketOf } from "../deps.ts";
import { invalidQuery } from "../error-body.ts";
import { type Gone, Outflow } from "../outflow.ts";
import { queueComment } from "../queue-comment.ts";
import { comment, SSE_HEADERS } from "../sse.ts";
import { VARY } from "../stored-answer.ts";
import { endedResponse, isEventStream, responseNow } from "./stored-response.ts";

const KEEP_ALIVE_MS = 12_000;
/** Events that come before any attempt: every reading of the stream begins with these. */
const OPENING_EVENTS = 2;

/**
 * @param after The number of the last event that the caller has; -1: none.
 * @throws {SirError} invalid_query when what the caller has is of an attempt that was given up
 */
export async function followResponse(
  c: Call,
  world: HttpWorld,
  job: Job,
  facts: Facts,
  { after, headers = {} }: { readonly after: number; readonly headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  if (after >= OPENING_EVENTS && hasBegunAgain(job)) {
    throw invalidQuery(
      "starting_after",
      "This response was interrupted and began again, so its events are not those you have. Read it without starting_after.",
    );
  }
  const follower = new Follower(c, world, facts, after);
  const init = {
    status: 200,
    headers: { ...SSE_HEADERS, ...headers, vary: VARY, "sir-job-id": job.id },
  };
  if (c.req.method === "HEAD") return new Response(null, init);
  await follower.follow(job);
  return new Response(follower.stream, init);
}

/** An attempt raises the epoch once, and giving it up once more. */
function hasBegunAgain({ state, epoch }: Job): boolean {
  return state.status === "queued" ? epoch > 0 : epoch > 1;
}

class Follower implements Listener {
  readonly beginsAgain = true;
  readonly live: Live;
  readonly #c: Call;
  readonly #world: HttpWorld;
  readonly #facts: Facts;
  readonly #after: number;
  readonly #out: Outflow;
  readonly #own: OwnEvents;
  #reader = new EventReader();
  #head: { readonly readable: boolean } | null = null;
  #job: Job | null = null;
  #over = false;
  #timer: Timer | null = null;
  #stops: (() => void)[] = [];

  constructor(c: Call, world: HttpWorld, facts: Facts, after: number) {
    this.#c = c;
    this.#world = world;
    this.#facts = facts;
    this.#after = after;
    this.#own = new OwnEvents(facts);
    const { outgoing } = socketOf(c);
    const hangUp = outgoing === undefined ? null : () => void outgoing.destroy();
    this.#out = new Outflow(world.clock, (why) => this.#leave(why), hangUp);
    this.live = { head: ({ status, headers }) => this.#began(status, headers), chunk: (bytes) => this.#chunk(bytes) };
  }

  get stream(): ReadableStream<Uint8Array> {
    return this.#out.stream;
  }

  async follow(job: Job): Promise<void> {
    this.#job = job;
    this.#send(this.#own.opening());
    this.#stops.push(onAbort(this.#c.req.raw.signal, () => this.#leave("left")));
    const draining = this.#world.closing?.draining;
    if (draining !== undefined) this.#stops.push(onAbort(draining, () => this.#breakOff("The router is going down.")));
    if (!isFinal(job.state.status)) this.#stops.push(this.#world.engine.relay.attach(job.id, this));
    // Attached first and read again then, so that no end falls between the two.
    const row = isFinal(job.state.status) ? job : await this.#world.store.job(job.id);
    if (row !== null && isFinal(row.state.status)) await this.#ended(row, null);
    else this.#keepAlive();
  }

  done(job: Job, result: Result | null): void {
    void this.#ended(job, result).catch((error: unknown) => {
      this.#world.log?.({ type: "http.error", requestId: this.#c.get("requestId"), error });
      this.#breakOff("The end of the response could not be read.");
    });
  }

  /** An attempt has begun to answer. After another one whose events were given out there is no going on. */
  #began(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#over) return;
    if (this.#own.next > OPENING_EVENTS) {
      this.#breakOff("The response was interrupted and begins again; read it from its first event.");
      return;
    }
    this.#reader = new EventReader();
    this.#head = { readable: status < 400 && isEventStream({ headers }) };
  }

  /** Never waits: the engine is not held back by those who watch. */
  #chunk(bytes: Uint8Array): void {
    if (this.#over || this.#head?.readable !== true) return;
    for (const event of this.#reader.push(bytes)) this.#send(this.#own.own(event));
    this.#keepAlive();
  }

  async #ended(job: Job, given: Result | null): Promise<void> {
    if (this.#over) return;
    const { status } = job.state;
    const answered = status === "succeeded" || status === "failed";
    const result = given ?? (answered ? await this.#world.store.result(job.id) : null);
    if (this.#over) return;
    if (status === "succeeded" && result !== null && isEventStream(result)) {
      if (this.#head === null) for (const event of this.#reader.push(result.body)) this.#send(this.#own.own(event));
      for (const event of this.#reader.end()) this.#send(this.#own.own(event));
    }
    // A cancelled response has no last event of its own: its stream just ends.
    if (status !== "cancelled" && this.#own.final === null) {
      const response = endedResponse(job, result, this.#facts);
      this.#send([this.#own.ended(response, this.#after)]);
    }
    this.#finish();
    this.#out.end(() => {
      if (result !== null) onDelivered(this.#c, () => this.#world.store.markRead(job.id));
    });
  }

  #send(events: readonly Json[]): void {
    for (const event of events) {
      const number = Number(event["sequence_number"]);
      if (number > this.#after) void this.#out.write(frameOf(event));
    }
  }

  /** An error event, as these streams have it; the job itself goes on. */
  #breakOff(message: string): void {
    if (this.#over) return;
    const event = {
      type: "error",
      code: "server_error",
      message,
      param: null,
      sequence_number: Math.max(this.#own.next, this.#after + 1),
    };
    void this.#out.write(frameOf(event));
    this.#finish();
    this.#out.end();
  }

  #leave(why: Gone): void {
    if (this.#over) return;
    this.#finish();
    if (why !== "left") {
      this.#world.log?.({ type: "http.dropped", requestId: this.#c.get("requestId"), reason: why });
    }
  }

  #finish(): void {
    this.#over = true;
    this.#timer?.cancel();
    for (const stop of this.#stops.splice(0)) stop();
  }

  #keepAlive(): void {
    if (this.#over) return;
    this.#timer?.cancel();
    const { clock } = this.#world;
    this.#timer = clock.at(clock.nowMs() + KEEP_ALIVE_MS, () => void this.#comment());
  }

  async #comment(): Promise<void> {
    if (this.#over || this.#job === null) return;
    const text = this.#own.next > OPENING_EVENTS ? "keep-alive" : await queueComment(this.#world, this.#job);
    if (this.#over) return;
    void this.#out.write(comment(text));
    this.#keepAlive();
  }
}

/** For a caller who wants no stream: the response as it is now. */
export async function responseJson(
  c: Call,
  world: HttpWorld,
  job: Job,
  facts: Facts,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await responseNow(world, job, facts);
  const isRead = job.state.status === "succeeded" || textOf(response["status"]) === "failed";
  if (isRead && c.req.method !== "HEAD") onDelivered(c, () => world.store.markRead(job.id));
  return new Response(JSON.stringify(response), {
    status: 200,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      vary: VARY,
      "sir-job-id": job.id,
      ...headers,
    },
  });
}
