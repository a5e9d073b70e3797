// What the store's tests start from: a clock that only moves when told to, ids in order, jobs and answers.

import { createHash } from "node:crypto";
import Database from "better-sqlite3";
import type { CallerId, DeviceId, InstanceId, JobId, ModelName, OwnerId, PoolId } from "../../src/domain/ids.ts";
import { DEFAULT_POOL, LOCAL_CALLER, uuidV7Hex } from "../../src/domain/ids.ts";
import type { Job } from "../../src/domain/job.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { BatchHooks } from "../../src/store/sqlite/batch.ts";
import { openSqliteStore, type StoreOptions } from "../../src/store/sqlite/open.ts";
import type { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Added, Authority, Fence, NewJob, Result, Store } from "../../src/store/store.ts";

export const MODEL = "alpha" as ModelName;
export const OTHER_MODEL = "beta" as ModelName;
export const DEVICE = "gpu0" as DeviceId;
export const INSTANCE = "ins_01" as InstanceId;
export const ENDED = { firstByteAtMs: null, outcome: "succeeded", detail: null } as const;
export const INTERRUPTED = { firstByteAtMs: null, outcome: "interrupted", detail: "engine lost" } as const;
export const DISPATCH = { decision: null, score: 1.5, queueWaitMs: 12, reorder: null } as const;

let counter = 0;
/** Sorts in the order of the calls. */
export function nextHex(): string {
  return uuidV7Hex(1_790_000_000_000 + (++counter >> 12), counter & 0xfff, new Uint8Array(8));
}
export const nextOwner = (): OwnerId => `boot_${nextHex()}` as OwnerId;

export function newJob(over: Partial<NewJob> & { text?: string } = {}): NewJob {
  const { text = '{"model":"alpha"}', ...rest } = over;
  const bytes = new TextEncoder().encode(text);
  return {
    id: `job_${nextHex()}` as JobId,
    pool: DEFAULT_POOL,
    caller: LOCAL_CALLER,
    model: MODEL,
    endpoint: "/v1/chat/completions",
    priority: 0,
    stream: false,
    leaseMs: 60_000,
    deadlineMs: null,
    traceparent: null,
    clientRequestId: null,
    metadata: {},
    body: {
      contentType: "application/json",
      sizeBytes: bytes.byteLength,
      sha256: createHash("sha256").update(bytes).digest(),
      headers: { accept: "application/json" },
      modelSpan: [10, 15],
      source: { kind: "bytes", bytes },
    },
    idempotency: null,
    ...rest,
  };
}

export function keyed(key: string, request = "request", over: Partial<NewJob> = {}): NewJob {
  return newJob({ ...over, idempotency: { key, fingerprint: createHash("sha256").update(request).digest() } });
}

export const caller = (name: string): CallerId => name as CallerId;
export const authority = (owner: OwnerId, pool: PoolId = DEFAULT_POOL): Authority => ({ owner, pool, term: 1 });
export const answer = (text = "answer", status = 200): Result => ({
  status,
  headers: { "content-type": "application/json" },
  body: new TextEncoder().encode(text),
});

export function fenceOf(job: Job): Fence {
  if (job.state.status !== "running") throw new Error(`a fence needs a running job, not ${job.state.status}`);
  return { id: job.id, epoch: job.epoch, owner: job.state.owner };
}

export function jobOf(added: Added): Job {
  if (added.kind !== "added" && added.kind !== "replayed") throw new Error(`no job in ${added.kind}`);
  return added.job;
}

export async function added(store: Store, job: NewJob = newJob()): Promise<Job> {
  return jobOf(await store.add(job));
}

export async function claimed(store: Store, owner: OwnerId, id: JobId): Promise<Job> {
  const [job] = await store.claim(authority(owner), [{ id, instance: INSTANCE, dispatch: DISPATCH }]);
  if (job === null || job === undefined) throw new Error(`${id} could not be claimed`);
  return job;
}

export async function finished(store: Store, owner: OwnerId, text = "answer", job: NewJob = newJob()): Promise<Job> {
  const running = await claimed(store, owner, (await added(store, job)).id);
  const end = await store.finish(fenceOf(running), { kind: "succeeded", result: answer(text) }, ENDED);
  if (end === null) throw new Error("the fence did not match");
  return end;
}

/** A store with what a test needs to move it. */
export interface Given {
  readonly store: SqliteStore;
  readonly clock: VirtualClock;
  readonly owner: OwnerId;
  readonly fatal: Error[];
}

export function settings(clock: VirtualClock, owner: OwnerId, fatal: Error[]): StoreOptions {
  return {
    owner,
    clock,
    ranking: { kind: "aging", msPerPoint: 60_000 },
    resultTtlMs: 86_400_000,
    readTtlMs: null,
    maxStoredBytes: 1_000_000_000,
    onFatal: (error) => fatal.push(error),
  };
}

export interface Opening extends Partial<StoreOptions> {
  readonly clock?: VirtualClock;
  readonly database?: Database.Database;
  readonly hooks?: BatchHooks;
}

export async function openInMemory(options: Opening = {}): Promise<Given> {
  const { database = new Database(":memory:"), hooks = {}, clock = new VirtualClock(), ...over } = options;
  const owner = over.owner ?? nextOwner();
  const fatal: Error[] = [];
  const store = await openSqliteStore({ ...settings(clock, owner, fatal), ...over, host: { database, hooks } });
  return { store, clock, owner, fatal };
}
