// The three ways into the engine: a new job that is stored, a new job that only this process has, and a job that exists
// already because its key was used before.

import { SirError } from "../domain/errors.ts";
import type { Emit } from "../domain/event.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { EngineControl } from "../engine/control.ts";
import type { Listener } from "../engine/relay.ts";
import { type Added, type NewJob, type Store, StoreError } from "../store/store.ts";
import type { Accepted } from "./intake.ts";

const RETRY_AFTER_MS = 5_000;

interface AcceptDeps {
  readonly store: Pick<Store, "addVolatile" | "job">;
  readonly engine: EngineControl;
  readonly emit: Emit;
}

type Mode = "async" | "sync";

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
  return { job, replayed: false, hold, detach };
}

/**
 * A plain synchronous request: it may run in this very tick. Its row follows; should that fail, its caller is served
 * all the same.
 * @param gone Called once, when the job is final: its body is no longer needed.
 */
export function acceptVolatile(
  deps: AcceptDeps,
  newJob: NewJob,
  listener: Listener | undefined,
  gone: () => void,
): Accepted {
  const { engine, emit } = deps;
  const { job, recorded } = addVolatile(deps.store, newJob);
  recorded.catch((error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error);
    emit({ type: "store.unavailable", verb: "addVolatile", detail });
  });
  engine.relay.attach(job.id, { live: null, done: gone });
  const detach = listener === undefined ? nothing : engine.relay.attach(job.id, listener);
  const hold = engine.hold(job.id);
  engine.admit(job, newJob.body);
  return { job, replayed: false, hold, detach };
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
export async function join(deps: AcceptDeps, row: Job, mode: Mode, listener: Listener | undefined): Promise<Accepted> {
  const { engine, store } = deps;
  const job = isFinal(row.state.status) ? row : ((await store.job(row.id).catch(() => null)) ?? row);
  if (isFinal(job.state.status)) return { job, replayed: true, hold: null, detach: nothing };
  if (mode === "sync") {
    const detach = listener === undefined ? nothing : engine.relay.attach(job.id, listener);
    const hold = engine.hold(job.id);
    if (job.state.status === "queued") engine.admit(job, null);
    return { job, replayed: true, hold, detach };
  }
  if (job.state.status === "queued") engine.admit(job, null);
  engine.renew(job.id);
  return { job, replayed: true, hold: null, detach: nothing };
}

function nothing(): void {}
