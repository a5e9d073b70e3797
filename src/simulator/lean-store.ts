// A store for long simulations: rows in memory while they are live, decisions and stretches of waiting dropped. It has
// the verbs that an engine uses while it serves plain jobs, and none of the others; the live store is the one to trust,
// and a test holds both against each other.

import type { Clock } from "../domain/clock.ts";
import type { JobId } from "../domain/ids.ts";
import { type Dispatch, isFinal, type Job, type JobEvent, type JobState, transition } from "../domain/job.ts";
import { type Ranking, rankOf } from "../domain/ranking.ts";
import { NO_HINTS } from "../store/hint-verbs.ts";
import { NO_HISTORY } from "../store/history.ts";
import { NO_MODEL_LOG } from "../store/model-log.ts";
import type { Added, Authority, Body, End, Ended, Fence, NewJob, Pick, Requeue, Store } from "../store/store.ts";

const NOTHING = Promise.resolve(undefined);
const NOBODY: Promise<readonly never[]> = Promise.resolve([]);
const QUEUED: JobState = { status: "queued" };
const NO: Promise<null> = Promise.resolve(null);

export function createLeanStore(clock: Clock, ranking: Ranking): Store {
  return new LeanStore(clock, ranking) as unknown as Store;
}

class LeanStore implements Partial<Store> {
  readonly hints = NO_HINTS;
  readonly about = NO_MODEL_LOG;
  readonly #clock: Clock;
  #ranking: Ranking;
  readonly #jobs = new Map<JobId, { job: Job; readonly body: Body }>();

  constructor(clock: Clock, ranking: Ranking) {
    this.#clock = clock;
    this.#ranking = ranking;
  }

  add(job: NewJob): Promise<Added> {
    return Promise.resolve({ kind: "added", job: this.#take(job, true) });
  }

  addVolatile(job: NewJob): { readonly job: Job; readonly recorded: Promise<void> } {
    return { job: this.#take(job, false), recorded: NOTHING };
  }

  claim({ owner }: Authority, picks: readonly Pick[]): Promise<readonly (Job | null)[]> {
    const atMs = this.#clock.nowMs();
    const claimed = picks.map(({ id, instance, dispatch }) => {
      const held = this.#jobs.get(id);
      const state = held && transition(held.job.state, { type: "claim", owner, instance, atMs });
      if (held === undefined || !state) return null;
      const { epoch, attempts } = held.job;
      held.job = after(held.job, { state, dispatch, epoch: epoch + 1, attempts: attempts + 1 });
      return held.job;
    });
    return Promise.resolve(claimed);
  }

  finish(fence: Fence, finish: Parameters<Store["finish"]>[1]): Promise<Job | null> {
    const atMs = this.#clock.nowMs();
    const how: JobEvent =
      finish.kind === "succeeded" ? { type: "succeed", atMs } : { type: "fail", atMs, error: finish.error };
    return Promise.resolve(this.#fenced(fence, how, {}));
  }

  requeue(fence: Fence, { charge, delayMs }: Requeue): Promise<Job | null> {
    const held = this.#jobs.get(fence.id);
    if (held === undefined) return NO;
    const { epoch, attempts, interruptions } = held.job;
    const changed = {
      epoch: epoch + 1,
      attempts: charge === "attempt" ? attempts : attempts - 1,
      interruptions: charge === "interruption" ? interruptions + 1 : interruptions,
      runAfterMs: delayMs === 0 ? 0 : this.#clock.nowMs() + delayMs,
    };
    return Promise.resolve(this.#fenced(fence, { type: "requeue" }, changed));
  }

  end(id: JobId, end: End): Promise<Ended | null> {
    const held = this.#jobs.get(id);
    if (held === undefined) return NO;
    const { job } = held;
    const state = transition(job.state, { ...end, atMs: this.#clock.nowMs() });
    if (state === null) return NO;
    const ended = this.#put(after(job, { state, epoch: job.epoch + 1 }));
    return Promise.resolve({ job: ended, changed: true, before: job.state.status });
  }

  /** Of jobs to come; the engine has ranked those that wait in its memory. */
  rerank(ranking: Ranking): Promise<void> {
    this.#ranking = ranking;
    return NOTHING;
  }

  job(id: JobId): Promise<Job | null> {
    return Promise.resolve(this.#jobs.get(id)?.job ?? null);
  }

  body(id: JobId): Promise<Body | null> {
    return Promise.resolve(this.#jobs.get(id)?.body ?? null);
  }

  readonly history = NO_HISTORY;
  append = (): void => undefined;
  notePolls = (): void => undefined;
  result = (): Promise<null> => NO;
  deadOwners = (): Promise<readonly never[]> => NOBODY;
  downtimes = (): Promise<readonly never[]> => NOBODY;
  live = (): Promise<readonly never[]> => NOBODY;
  loads = (): Promise<readonly never[]> => NOBODY;
  recover = (): ReturnType<Store["recover"]> => Promise.resolve({ requeued: 0, poisoned: 0, dropped: 0 });
  prune = (): Promise<boolean> => Promise.resolve(false);
  maintain = (): Promise<void> => NOTHING;
  ping = (): Promise<void> => NOTHING;
  close = (): Promise<void> => NOTHING;

  #take(made: NewJob, durable: boolean): Job {
    const atMs = this.#clock.nowMs();
    const { deadlineMs, priority } = made;
    const job: Job = {
      id: made.id,
      pool: made.pool,
      caller: made.caller,
      model: made.model,
      endpoint: made.endpoint,
      priority,
      origin: made.origin ?? "receipt",
      rank: rankOf(this.#ranking, { acceptedAtMs: atMs, priority }),
      stream: made.stream,
      durable,
      createdAtMs: Math.floor(this.#clock.wallMs()),
      acceptedAtMs: atMs,
      leaseMs: made.leaseMs,
      deadlineAtMs: deadlineMs === null ? null : atMs + deadlineMs,
      epoch: 0,
      attempts: 0,
      interruptions: 0,
      runAfterMs: 0,
      traceparent: made.traceparent,
      clientRequestId: made.clientRequestId,
      metadata: made.metadata,
      dispatch: null,
      resultReadAtMs: null,
      resultPurgedAtMs: null,
      purgeAfterMs: null,
      spent: null,
      state: QUEUED,
    };
    this.#jobs.set(job.id, { job, body: made.body });
    return job;
  }

  /** The row after `event`; null when the fence does not match. */
  #fenced({ id, epoch, owner }: Fence, event: JobEvent, changed: Change): Job | null {
    const job = this.#jobs.get(id)?.job;
    if (job === undefined || job.epoch !== epoch || !runsFor(job.state, owner)) return null;
    const state = transition(job.state, event);
    return state === null ? null : this.#put(after(job, { ...changed, state }));
  }

  /** A final row is handed out once and forgotten. */
  #put(job: Job): Job {
    const held = this.#jobs.get(job.id);
    if (isFinal(job.state.status)) this.#jobs.delete(job.id);
    else if (held !== undefined) held.job = job;
    return job;
  }
}

interface Change {
  readonly state?: JobState;
  readonly dispatch?: Dispatch;
  readonly epoch?: number;
  readonly attempts?: number;
  readonly interruptions?: number;
  readonly runAfterMs?: number;
}

/** The row with a few fields changed; field by field, because spreading it costs more than everything else here. */
function after(job: Job, change: Change): Job {
  return {
    id: job.id,
    pool: job.pool,
    caller: job.caller,
    model: job.model,
    endpoint: job.endpoint,
    priority: job.priority,
    origin: job.origin,
    rank: job.rank,
    stream: job.stream,
    durable: job.durable,
    createdAtMs: job.createdAtMs,
    acceptedAtMs: job.acceptedAtMs,
    leaseMs: job.leaseMs,
    deadlineAtMs: job.deadlineAtMs,
    epoch: change.epoch ?? job.epoch,
    attempts: change.attempts ?? job.attempts,
    interruptions: change.interruptions ?? job.interruptions,
    runAfterMs: change.runAfterMs ?? job.runAfterMs,
    traceparent: job.traceparent,
    clientRequestId: job.clientRequestId,
    metadata: job.metadata,
    dispatch: change.dispatch ?? job.dispatch,
    resultReadAtMs: job.resultReadAtMs,
    resultPurgedAtMs: job.resultPurgedAtMs,
    purgeAfterMs: job.purgeAfterMs,
    spent: null,
    state: change.state ?? job.state,
  };
}

function runsFor(state: JobState, owner: Fence["owner"]): boolean {
  return state.status === "running" && state.owner === owner;
}
