// A job's life as server-sent events, for EventSource. The first event is a full receipt, so that nothing before it is
// needed; each one after it is a change; the last one is the job's end. The open connection is the caller's interest.

import type { Timer } from "../domain/clock.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { Hold } from "../engine/control.ts";
import type { StoredEvent } from "../store/store.ts";
import { polledJob } from "./caller.ts";
import { onAbort } from "./closing.ts";
import { type Call, type HttpWorld, socketOf } from "./deps.ts";
import { Outflow } from "./outflow.ts";
import { answerOf, placedFacts, type ReceiptFacts, receiptBytes } from "./receipt.ts";
import { comment, frame, SSE_HEADERS } from "./sse.ts";
import { StartWatch } from "./start-watch.ts";
import { VARY } from "./stored-answer.ts";

const PING_MS = 15_000;
/** Positions move without an event of this job's own. */
const LOOK_MS = 2_000;
const PAGE = 100;

type EventName = "queued" | "started" | "completed" | "failed" | "cancelled" | "expired";

/** `GET /v1/jobs/{id}/events` */
export async function jobEvents(c: Call, world: HttpWorld): Promise<Response> {
  const job = await polledJob(c, world);
  const headers = { ...SSE_HEADERS, "cache-control": "no-store", vary: VARY, "sir-job-id": job.id };
  if (c.req.method === "HEAD") return new Response(null, { headers });
  const after = c.req.raw.headers.get("last-event-id") ?? c.req.query("after") ?? null;
  const feed = new JobFeed(c, world, job, after);
  return new Response(feed.stream, { headers });
}

class JobFeed {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #world: HttpWorld;
  readonly #out: Outflow;
  readonly #hold: Hold | null;
  readonly #stops: (() => void)[] = [];
  readonly #start = new StartWatch();
  /** Its start is expected at another time than was told, which has not been said yet. */
  #startMoved = false;
  /** Why it is later than was told. */
  #because: string | null = null;
  #job: Job;
  #cursor: string | null;
  #seen = "";
  #first = true;
  /** The state that the reader has heard of last. */
  #told: EventName | null = null;
  #over = false;
  #looking = false;
  #again = false;
  #timer: Timer | null = null;
  #quietSinceMs: number;

  constructor(c: Call, world: HttpWorld, job: Job, after: string | null) {
    this.#world = world;
    this.#job = job;
    this.#cursor = after;
    this.#quietSinceMs = world.clock.nowMs();
    const { outgoing } = socketOf(c);
    this.#out = new Outflow(
      world.clock,
      () => this.#close(),
      outgoing === undefined ? null : () => void outgoing.destroy(),
    );
    this.stream = this.#out.stream;
    this.#hold = isFinal(job.state.status) ? null : world.engine.hold(job.id);
    this.#stops.push(world.engine.watch(job.id, () => this.#look()));
    this.#stops.push(onAbort(c.req.raw.signal, () => this.#close()));
    if (world.closing !== undefined) this.#stops.push(onAbort(world.closing.draining, () => this.#close()));
    this.#look();
  }

  /** One look at a time; a change during one causes another. */
  #look(): void {
    this.#again = true;
    if (this.#looking || this.#over) return;
    this.#looking = true;
    void this.#lookUntilQuiet();
  }

  async #lookUntilQuiet(): Promise<void> {
    try {
      while (this.#again && !this.#over) {
        this.#again = false;
        await this.#report();
      }
      this.#looking = false;
      this.#rest();
    } catch {
      // The store is away; the stream ends, and the caller comes back with the last id it has.
      this.#close();
    }
  }

  async #report(): Promise<void> {
    const events = await this.#newEvents();
    // Read after its events: it is at least as far as they are.
    this.#job = (await this.#world.store.job(this.#job.id)) ?? this.#job;
    const facts = await this.#facts();
    const now = eventOf(this.#job);
    const last = events.at(-1);
    if (this.#first) this.#send(now, last?.cursor ?? this.#cursor, await this.#bytes(facts));
    else await this.#sendAll(events, facts);
    const told = this.#first || last === undefined ? this.#told : nameOf(last);
    this.#told = this.#first ? now : told;
    this.#first = false;
    this.#cursor = last?.cursor ?? this.#cursor;
    this.#seen = placeKey(facts);
    if (!isFinal(this.#job.state.status)) return;
    // It ended between the two reads: its last event is told all the same.
    if (this.#told !== now) this.#send(now, this.#cursor, await this.#bytes(facts));
    this.#close();
  }

  async #sendAll(events: readonly StoredEvent[], facts: ReceiptFacts): Promise<void> {
    for (const event of events) {
      const name = nameOf(event);
      const bytes = name === eventOf(this.#job) ? await this.#bytes(facts) : receiptBytes(asOf(facts, name), null);
      this.#send(name, event.cursor, bytes);
    }
    this.#sendPlace(facts);
  }

  /** Its receipt, with the reason when its start is expected later than this reader was told. */
  async #facts(): Promise<ReceiptFacts> {
    const { facts, place } = await placedFacts(this.#world, this.#job);
    const { moved, because } = this.#start.look(place);
    if (moved) {
      this.#startMoved = true;
      this.#because = because;
    }
    const { queue } = facts;
    return queue === null ? facts : { ...facts, queue: { ...queue, because: this.#because } };
  }

  async #newEvents(): Promise<readonly StoredEvent[]> {
    const all: StoredEvent[] = [];
    let cursor = this.#cursor;
    for (;;) {
      const page = await this.#world.store.eventsAfter(this.#job.id, cursor, PAGE);
      all.push(...page);
      cursor = page.at(-1)?.cursor ?? cursor;
      if (page.length < PAGE) return all;
    }
  }

  async #bytes(facts: ReceiptFacts): Promise<Uint8Array> {
    const answered = this.#job.durable && (facts.status === "completed" || facts.status === "failed");
    return receiptBytes(facts, answerOf(answered ? await this.#world.store.result(this.#job.id) : null));
  }

  #send(event: string, id: string | null, data: Uint8Array): void {
    this.#quietSinceMs = this.#world.clock.nowMs();
    void this.#out.write(frame(id === null ? { event, data } : { event, id, data }));
  }

  /** Where it stands has changed though its state has not: no id, since there is nothing to resume from. */
  #sendPlace(facts: ReceiptFacts): void {
    if (facts.queue === null || (placeKey(facts) === this.#seen && !this.#startMoved)) return;
    this.#startMoved = false;
    this.#because = null;
    const event = facts.queue.loading === null ? "position" : "loading";
    this.#send(event, null, receiptBytes(facts, null));
  }

  #rest(): void {
    if (this.#over) return;
    this.#timer?.cancel();
    const { clock } = this.#world;
    const queued = this.#job.state.status === "queued";
    const atMs = queued ? clock.nowMs() + LOOK_MS : this.#quietSinceMs + PING_MS;
    this.#timer = clock.at(atMs, () => {
      if (clock.nowMs() - this.#quietSinceMs >= PING_MS) {
        this.#quietSinceMs = clock.nowMs();
        void this.#out.write(comment("ping"));
      }
      if (queued && clock.nowMs() > this.#quietSinceMs) void this.#lookAtPlace();
      else this.#look();
    });
  }

  /** Between changes only the place can move, and the engine has that in memory. */
  async #lookAtPlace(): Promise<void> {
    const facts = await this.#facts();
    if (this.#over || this.#looking) return;
    this.#sendPlace(facts);
    this.#seen = placeKey(facts);
    this.#rest();
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    for (const stop of this.#stops) stop();
    this.#hold?.release();
    this.#out.end();
  }
}

function nameOf({ type }: StoredEvent): EventName {
  return type === "requeued" ? "queued" : type;
}

function eventOf({ state }: Job): EventName {
  if (state.status === "running") return "started";
  return state.status === "succeeded" ? "completed" : state.status;
}

/** What a reader is shown of a stage that has passed already. */
function asOf(facts: ReceiptFacts, name: string): ReceiptFacts {
  if (name !== "queued" && name !== "started") return facts;
  return {
    ...facts,
    status: name === "queued" ? "queued" : "in_progress",
    completed_at: null,
    expires_at: null,
    error: null,
  };
}

function placeKey({ queue }: ReceiptFacts): string {
  if (queue === null) return "";
  const { position, loading, blocked } = queue;
  return JSON.stringify([position, loading?.model, loading?.phase, loading?.progress, blocked]);
}
