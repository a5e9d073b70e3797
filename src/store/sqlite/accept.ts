// Taking a job in: job, body, idempotency key and first event in one transaction, and the bound on stored bytes.

import type { Database } from "better-sqlite3";
import type { Job } from "../../domain/job.ts";
import type { Added, Body, NewJob } from "../store.ts";
import type { CoreSettings } from "./core.ts";
import { acceptedJob, CANCELLED, type Stamp, toJob } from "./job-row.ts";
import type { Purger } from "./purger.ts";
import type { JobRow } from "./schema.ts";

const INSERT_JOB = `
  INSERT INTO jobs (id, pool, caller, model, endpoint, priority, rank, stream, durable, created_wall_ms, accepted_ms,
    lease_ms, deadline_ms, last_poll_ms, home, traceparent, client_request_id, metadata, idempotency_key, fingerprint)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_BODY = `
  INSERT INTO bodies (job, content_type, size, sha256, headers, span_start, span_end, location, bytes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_EVENT = "INSERT INTO job_events (job, at_ms, type) VALUES (?, ?, 'queued')";
export const BY_KEY = "SELECT * FROM jobs INDEXED BY jobs_by_key WHERE caller = ? AND idempotency_key = ?";
const FREE_KEY = "UPDATE jobs SET idempotency_key = NULL, fingerprint = NULL WHERE seq = ?";

export interface Accepting {
  add(at: Stamp, job: NewJob, rank: number): Added;
  addVolatile(at: Stamp, job: NewJob, rank: number): void;
}

export function createAccepting(db: Database, settings: CoreSettings, purger: Purger): Accepting {
  const insertJob = db.prepare(INSERT_JOB);
  const insertBody = db.prepare(INSERT_BODY);
  const insertEvent = db.prepare(INSERT_EVENT);
  const byKey = db.prepare<[string, string], JobRow>(BY_KEY);
  const freeKey = db.prepare(FREE_KEY);

  const insert = (at: Stamp, job: NewJob, rank: number, durable: boolean): Job => {
    const made = acceptedJob(job, at, rank, durable);
    const key = durable ? job.idempotency : null;
    const { lastInsertRowid: seq } = insertJob.run(
      made.id,
      made.pool,
      made.caller,
      made.model,
      made.endpoint,
      made.priority,
      made.rank,
      made.stream ? 1 : 0,
      durable ? 1 : 0,
      made.createdAtMs,
      made.acceptedAtMs,
      made.leaseMs,
      made.deadlineAtMs,
      made.acceptedAtMs,
      settings.owner,
      made.traceparent,
      made.clientRequestId,
      JSON.stringify(made.metadata),
      key?.key ?? null,
      key?.fingerprint ?? null,
    );
    if (durable) insertBody.run(seq, ...bodyColumns(job.body));
    insertEvent.run(seq, made.acceptedAtMs);
    return made;
  };

  /** What the key already stands for; null when the job may be added. */
  const earlier = (job: NewJob): Added | null => {
    if (job.idempotency === null) return null;
    const row = byKey.get(job.caller, job.idempotency.key);
    if (row === undefined) return null;
    if (row.status === CANCELLED && (row.cancel_reason === "lease_expired" || row.cancel_reason === "disconnect")) {
      freeKey.run(row.seq);
      return null;
    }
    const same = row.fingerprint !== null && Buffer.compare(row.fingerprint, job.idempotency.fingerprint) === 0;
    return same ? { kind: "replayed", job: toJob(row) } : { kind: "key_reused" };
  };

  return {
    add(at, job, rank) {
      const found = earlier(job);
      if (found !== null) return found;
      if (!purger.makeRoom(at.atMs, job.body.sizeBytes)) return { kind: "storage_full" };
      return { kind: "added", job: insert(at, job, rank, true) };
    },
    addVolatile(at, job, rank) {
      insert(at, job, rank, false);
    },
  };
}

function bodyColumns(body: Body): unknown[] {
  const { source } = body;
  if (source.kind === "bytes" && source.bytes.byteLength !== body.sizeBytes) {
    throw new Error(`the body has ${source.bytes.byteLength} bytes where ${body.sizeBytes} were announced`);
  }
  return [
    body.contentType,
    body.sizeBytes,
    body.sha256,
    JSON.stringify(body.headers),
    body.modelSpan?.[0] ?? null,
    body.modelSpan?.[1] ?? null,
    source.kind === "file" ? source.uri : null,
    source.kind === "bytes" ? source.bytes : null,
  ];
}
