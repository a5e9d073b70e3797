// The store in forty lines of memory, and what must be equal between it and the real one after every step.

import type Database from "better-sqlite3";
import { expect } from "vitest";
import type { JobId, OwnerId } from "../../src/domain/ids.ts";
import type { CancelReason, JobStatus } from "../../src/domain/job.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Fence } from "../../src/store/store.ts";
import { openInMemory } from "./given.ts";

export const TTL_MS = 100_000;
export const CAP = 3;

export interface ModelJob {
  readonly id: JobId;
  readonly key: string | null;
  readonly request: string;
  readonly text: string;
  status: JobStatus;
  reason: CancelReason | null;
  epoch: number;
  attempts: number;
  interruptions: number;
  result: string | null;
  finishedAtMs: number;
  bytesGone: boolean;
  events: string[];
}

/** A claim somebody still holds, alive or long dead. */
export interface Token {
  readonly job: ModelJob;
  readonly fence: Fence;
}

export interface Model {
  readonly jobs: ModelJob[];
  readonly tokens: Token[];
}

/** The real thing: a store that can be killed at a commit and opened again on the same database. */
export interface Real {
  store: SqliteStore;
  owner: OwnerId;
  readonly clock: VirtualClock;
  readonly database: Database.Database;
  /** Dies at the next commit, before or after it. */
  armed: "before" | "after" | null;
  readonly bug: Bug;
}

/** Planted faults: the property must catch each. */
export type Bug = "none" | "no fence" | "cancels final jobs" | "no recovery";

export async function openReal(database: Database.Database, bug: Bug): Promise<Real> {
  const real = { clock: new VirtualClock(), database, armed: null, bug } as unknown as Real;
  await restart(real);
  return real;
}

export async function restart(real: Real): Promise<void> {
  real.armed = null;
  const hooks = {
    commit(phase: "before" | "after"): void {
      if (phase === real.armed) throw new Error("killed");
    },
  };
  const { database, clock } = real;
  const { store, owner } = await openInMemory({ database, clock, resultTtlMs: TTL_MS, hooks });
  real.store = store;
  real.owner = owner;
}

export function isLive({ status }: ModelJob): boolean {
  return status === "queued" || status === "running";
}

export function ends(job: ModelJob, status: JobStatus, atMs: number, event: string): void {
  job.status = status;
  job.finishedAtMs = atMs;
  job.events.push(event);
}

/** Equality of everything that can be seen from outside. */
export async function compare({ jobs }: Model, { store, database }: Real): Promise<void> {
  let bytes = 0;
  for (const job of jobs) {
    const stored = await store.job(job.id);
    expect(stored, "an accepted job is gone").not.toBeNull();
    const { epoch, attempts, interruptions, state } = stored ?? { state: null };
    expect({ status: state?.status, epoch, attempts, interruptions }).toEqual({
      ...{ status: job.status, epoch: job.epoch, attempts: job.attempts, interruptions: job.interruptions },
    });
    const body = await store.body(job.id);
    const text = body?.source.kind === "bytes" ? Buffer.from(body.source.bytes).toString() : null;
    expect(text).toBe(job.bytesGone ? null : job.text);
    const result = await store.result(job.id);
    expect(result === null ? null : Buffer.from(result.body).toString()).toBe(job.bytesGone ? null : job.result);
    const events = await store.eventsAfter(job.id, null, 1_000);
    expect(events.map((event) => event.type)).toEqual(job.events);
    const open = (await store.attempts(job.id)).filter((attempt) => attempt.endedAtMs === null);
    expect(open).toHaveLength(job.status === "running" ? 1 : 0);
    if (!job.bytesGone) bytes += job.text.length + (job.result?.length ?? 0);
  }
  expect(await store.usage()).toMatchObject({ jobs: jobs.length, storedBytes: bytes });
  const rows = database.prepare("SELECT count(*) FROM jobs").pluck().get();
  expect(rows).toBe(jobs.length);
  expect(await store.deadOwners()).toEqual([]);
}
