// Who asks, what they may do, and which jobs are theirs. Without keys everybody is one caller, `local`, who may see all;
// with keys a caller is a key's name, and its scopes decide.

import type { Scope } from "../domain/caller-key.ts";
import { SirError } from "../domain/errors.ts";
import { type CallerId, LOCAL_CALLER, parseJobId } from "../domain/ids.ts";
import type { Job } from "../domain/job.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { requireLocalPeer } from "./local-peer.ts";

/** Owns what this request makes, and may read its own. */
export function callerOf(c: Call): CallerId {
  return c.get("caller")?.id ?? LOCAL_CALLER;
}

/** Whether other callers' jobs may be seen, by id and by caller's name; never their requests and answers. */
export function mayObserve(c: Call): boolean {
  const caller = c.get("caller");
  return caller === null || caller.scopes.has("observe");
}

/** Whether other callers' jobs may be cancelled. */
export function mayOperate(c: Call): boolean {
  const caller = c.get("caller");
  return caller === null || caller.scopes.has("operate");
}

/**
 * Keys alone are asked: without any, everybody may.
 * @throws {SirError} scope_missing
 */
export function requireScope(c: Call, scope: Scope): void {
  const caller = c.get("caller");
  if (caller === null || caller.scopes.has(scope)) return;
  const own = [...caller.scopes].join(", ");
  throw new SirError("scope_missing", `This needs a key with the scope "${scope}"; this key has ${own}.`);
}

/**
 * Verbs of operators: with keys the scope `operate`, without any this machine only, and no web page but our own.
 * @throws {SirError} scope_missing, admin_not_allowed
 */
export function requireOperator(c: Call): void {
  requireScope(c, "operate");
  if (c.get("caller") === null) requireLocalPeer(c);
}

/**
 * What tells of everybody's work, or costs much to find out: with keys the scope `observe`, without any this machine only.
 * @throws {SirError} scope_missing, admin_not_allowed
 */
export function requireObserver(c: Call): void {
  requireScope(c, "observe");
  if (c.get("caller") === null) requireLocalPeer(c);
}

export function isOwn(c: Call, job: Pick<Job, "caller">): boolean {
  return job.caller === callerOf(c);
}

/**
 * The caller's own job that the path names. Somebody else's is as unknown as one that never was.
 * @throws {SirError} job_not_found; scope_missing to an observer, who may know that it is there
 */
export async function ownJob(c: Call, world: HttpWorld): Promise<Job> {
  const job = await jobOf(c, world);
  if (!isOwn(c, job)) {
    throw new SirError("scope_missing", `Only the caller that made this job, "${job.caller}", may read its answer.`);
  }
  return job;
}

/**
 * The job that the path names, if it is the caller's own or the caller may observe: for what holds neither request nor
 * answer. It is no poll.
 * @throws {SirError} job_not_found
 */
export function seenJob(c: Call, world: HttpWorld): Promise<Job> {
  return jobOf(c, world);
}

/**
 * The job that the path names, if it is the caller's own or the caller may operate.
 * @throws {SirError} job_not_found; scope_missing to an observer
 */
export async function operableJob(c: Call, world: HttpWorld): Promise<Job> {
  const job = await jobOf(c, world);
  if (!isOwn(c, job)) requireScope(c, "operate");
  return job;
}

async function jobOf(c: Call, world: HttpWorld): Promise<Job> {
  const id = parseJobId(c.req.param("id") ?? "");
  const job = id === null ? null : await world.store.job(id);
  if (job === null || !(isOwn(c, job) || mayObserve(c))) {
    throw new SirError("job_not_found", "There is no such job; it may have been removed after its time.");
  }
  c.set("job", job.id);
  return job;
}

/**
 * The caller's own job, as a poll: a live job's full lease starts anew.
 * @throws {SirError} job_not_found; scope_missing to an observer
 */
export async function polledJob(c: Call, world: HttpWorld): Promise<Job> {
  const own = await ownJob(c, world);
  return world.poll(own.id, callerOf(c));
}
