// The three ways into the engine: a new job that is stored, a new job that only this process has, and a job that exists
// already because its key was used before.

import type { Clock } from "../domain/clock.ts";
import { SirError } from "../domain/errors.ts";
import type { Emit } from "../domain/event.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { EngineControl, Hold } from "../engine/control.ts";
import type { Listener } from "../engine/relay.ts";
import { type Added, type NewJob, type Store, StoreError } from "../store/store.ts";
import type { Accepted, PreparedCall } from "./intake.ts";
import type { BodyKeeper } from "./read-body.ts";
import type { Repeatable, Repeats } from "./repeats.ts";

const RETRY_AFTER_MS = 5_000;

interface AcceptDeps {
  readonly store: Pick<Store, "addVolatile" | "job">;
  readonly engine: EngineControl;
  readonly repeats: Repeats;
  readonly clock: Clock;
  readonly settings: { readonly orphanMs: number };
  readonly emit: Emit;
}

export type Mode = "async" | "sync" | "background";

/** The store may or may not have the job: its body file must stay, and the store's own sweep removes it if it has not. */
class StoredPerhapsError extends SirError {}

export function mayBeStored(error: unknown): boolean {
  return error instanceof StoredPerhapsError;
}

/**
 * Resolves after COMMIT.
 * @throws {SirError} idempotency_key_reused, storage_full, store_unavailable
 */
export async function addDurably(
  store: Pick<Store, "add" | "job">,
  job: NewJob,
): Promise<{ readonly job: Job; readonly replayed: boolean }> {
  let added: Added;
  try {
    added = await store.add(job);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.outcome === "unavailable") throw storeUnavailable(error);
    const stored = await store.job(job.id).catch(() => null);
    if (stored === null) throw new StoredPerhapsError("store_unavailable", UNKNOWN, { retryAfterMs: RETRY_AFTER_MS });
    return { job: stored, replayed: false };
  }
  switch (added.kind) {
    case "added":
      return { job: added.job, replayed: false };
    case "replayed":
      return { job: added.job, replayed: true };
    case "key_reused":
      throw new SirError(
        "idempotency_key_reused",
        "This Idempotency-Key was used for another request; use a new key for each request.",
        { param: "Idempotency-Key" },
      );
    case "storage_full":
      throw new SirError("storage_full", "The space for stored requests and answers is used up; try again later.", {
        retryAfterMs: RETRY_AFTER_MS,
      });
  }
}

const UNKNOWN =
  "The store did not say whether the request was stored. Repeat it with an Idempotency-Key to be sure that it runs once.";

function storeUnavailable(cause: StoreError): SirError {
  return new SirError("store_unavailable", "The request could not be stored, and nothing was accepted; try again.", {
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  });
}

/** A stored job into the engine. One tick from the listener to the queue: nothing of the answer can be missed. */
export function enter(engine: EngineControl, job: Job, mode: Mode, listener: Listener | undefined): Accepted {
  const isWaiting = mode === "sync";
  const detach = isWaiting && listener !== undefined ? engine.relay.attach(job.id, listener) : nothing;
  const hold = isWaiting ? engine.hold(job.id) : null;
  engine.admit(job, null);
  return durably(job, { replayed: false, hold, detach });
}

type Joined = Pick<Accepted, "replayed" | "hold" | "detach">;

function durably(job: Job, joined: Joined): Accepted {
  return { ...joined, job, result: null, keep: () => Promise.resolve(job), delivered: nothing };
}

interface Waiter {
  readonly listener: Listener | undefined;
  readonly repeat: Uint8Array | null;
  readonly keeper: BodyKeeper | undefined;
}

/**
 * A plain synchronous request: it may run in this very tick. Its row follows; should that fail, its caller is served
 * all the same.
 */
export function acceptVolatile(deps: AcceptDeps, newJob: NewJob, waiter: Waiter): Accepted {
  const { engine, emit, repeats } = deps;
  const { job, recorded } = addVolatile(deps.store, newJob);
  recorded.catch((error: unknown) => unavailable(emit, "addVolatile", error));
  const { keep, gone } = keeping(deps, job, waiter);
  engine.relay.attach(job.id, { live: null, done: gone });
  const request = waiter.repeat === null ? null : repeats.enter(job.caller, waiter.repeat, job, keep);
  const accepted = waitFor(engine, job, waiter.listener, request, keep);
  engine.admit(job, newJob.body);
  return accepted;
}

function waitFor(
  engine: EngineControl,
  job: Job,
  listener: Listener | undefined,
  request: Repeatable | null,
  keep: () => Promise<Job | null>,
): Accepted {
  const detach = listener === undefined ? nothing : engine.relay.attach(job.id, listener);
  const held = engine.hold(job.id);
  const hold: Hold = {
    ...held,
    drop: (orphanMs) => {
      if (orphanMs > 0) request?.left();
      held.drop(orphanMs);
    },
  };
  return { job, result: null, replayed: false, hold, detach, keep, delivered: request?.forget ?? nothing };
}

/** Its body goes with the job, unless the store has taken it over. */
function keeping(
  { engine, emit }: AcceptDeps,
  job: Job,
  { repeat, keeper }: Waiter,
): { keep: () => Promise<Job | null>; gone: () => void } {
  let state: "ours" | "asked" | "stored" = "ours";
  let isGone = false;
  const gone = (): void => {
    isGone = true;
    if (state === "ours") void keeper?.discard();
  };
  const keep = async (): Promise<Job | null> => {
    if (state !== "ours") return engine.keep(job.id, repeat);
    state = "asked";
    try {
      const kept = await engine.keep(job.id, repeat);
      state = kept === null ? "ours" : "stored";
      if (kept !== null) keeper?.releaseMemory();
      else if (isGone) gone();
      return kept;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      unavailable(emit, "keep", error);
      // It may be stored all the same, with the body's file.
      state = error.outcome === "unknown" ? "stored" : "ours";
      if (isGone) gone();
      return null;
    }
  };
  return { keep, gone };
}

function unavailable(emit: Emit, verb: string, error: unknown): void {
  const detail = error instanceof Error ? error.message : String(error);
  emit({ type: "store.unavailable", verb, detail });
}

/** An SDK repeats its own request, and no key says which job it is about. */
export function isRepeated({ idempotency, retryCount, repeat }: PreparedCall): boolean {
  return idempotency === null && repeat !== null && (retryCount ?? 0) >= 1;
}

/**
 * The job that this repeated request's caller left behind: one that keeps its place
 * while nobody waits, or an answer that nobody has taken. Null: it is a new request.
 */
export async function takeUp(
  deps: AcceptDeps & { readonly store: Pick<Store, "repeats"> },
  { caller, repeat }: PreparedCall,
  listener: Listener | undefined,
): Promise<Accepted | null> {
  if (repeat === null) return null;
  const { engine, repeats } = deps;
  const left = repeats.find(caller, repeat);
  if (left?.kind === "live") {
    const { job, keep } = left.request;
    return waitFor(engine, job, listener, left.request, keep);
  }
  if (left !== null) {
    const { job, result } = left;
    return { ...durably(job, { replayed: false, hold: null, detach: nothing }), result };
  }
  const found = (await deps.store.repeats(caller, repeat).catch(() => [])).find((job) => isLeft(deps, job));
  return found === undefined ? null : { ...(await join(deps, found, "sync", listener)), replayed: false };
}

/** A kept job whose caller went between two requests, or whose answer nobody has read. */
function isLeft({ engine, clock, settings }: AcceptDeps, job: Job): boolean {
  const { state } = job;
  if (!isFinal(state.status)) return engine.isOrphan(job.id);
  const answered = state.status === "succeeded" || state.status === "failed";
  if (!answered || job.resultReadAtMs !== null || job.resultPurgedAtMs !== null) return false;
  return clock.nowMs() - state.finishedAtMs <= settings.orphanMs;
}

function addVolatile(store: Pick<Store, "addVolatile">, job: NewJob): ReturnType<Store["addVolatile"]> {
  try {
    return store.addVolatile(job);
  } catch (error) {
    throw error instanceof StoreError ? storeUnavailable(error) : error;
  }
}

/**
 * A repeated request meets its job. The row may be older than the last tick, so it is read again: a listener must not be
 * attached to a job that has ended meanwhile. A queued job is admitted again, because the request that made it may not
 * have come so far; to the engine that is nothing new.
 */
export async function join(
  deps: Pick<AcceptDeps, "engine" | "store">,
  row: Job,
  mode: Mode,
  listener: Listener | undefined,
): Promise<Accepted> {
  const { engine, store } = deps;
  const job = isFinal(row.state.status) ? row : ((await store.job(row.id).catch(() => null)) ?? row);
  if (isFinal(job.state.status)) return durably(job, { replayed: true, hold: null, detach: nothing });
  if (mode === "sync") {
    const detach = listener === undefined ? nothing : engine.relay.attach(job.id, listener);
    const hold = engine.hold(job.id);
    if (job.state.status === "queued") engine.admit(job, null);
    return durably(job, { replayed: true, hold, detach });
  }
  if (job.state.status === "queued") engine.admit(job, null);
  engine.renew(job.id);
  return durably(job, { replayed: true, hold: null, detach: nothing });
}

function nothing(): void {}
