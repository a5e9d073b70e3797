// Taking a job in: job, body, idempotency key and first event in one transaction, and the bound on stored bytes.

import type { Database } from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";
import type { Job } from "../../domain/job.ts";
import { isSlice } from "../spool.ts";
import type { Body, NewJob } from "../store.ts";
import { CANCELLED, ORIGINS, type Stamp, toJob } from "./job-row.ts";
import type { Ledger } from "./ledger.ts";
import type { Purger } from "./purger.ts";
import type { JobRow } from "./schema.ts";

const INSERT_JOB = `
  INSERT INTO jobs (id, pool, caller, model, endpoint, priority, rank, stream, durable, created_wall_ms, accepted_ms,
    lease_ms, deadline_ms, last_poll_ms, home, traceparent, client_request_id, metadata, idempotency_key, fingerprint, origin)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), ?)`;
export const INSERT_BODY = `
  INSERT INTO bodies (job, content_type, size, sha256, headers, span_start, span_end, location, bytes)
  VALUES (?, ?, ?, unhex(?), ?, ?, ?, ?, ?)`;
const INSERT_EVENT = "INSERT INTO job_events (job, n, at_ms, type) VALUES (?, 0, ?, 'queued')";
export const BY_KEY = "SELECT * FROM jobs INDEXED BY jobs_by_key WHERE caller = ? AND idempotency_key = ?";
const FREE_KEY = "UPDATE jobs SET idempotency_key = NULL, fingerprint = NULL WHERE seq = ?";

export type Value = string | number | Uint8Array | null;

/**
 * A job on its way in, in the order of the columns: posting an object would spend more time on the names of its fields
 * than the insert takes.
 */
export interface Arrival {
  readonly job: readonly Value[];
  readonly body: readonly Value[] | null;
  readonly acceptedAtMs: number;
  readonly sizeBytes: number;
  readonly caller: string;
  readonly key: string | null;
  readonly fingerprint: string | null;
}

/** What became of it; the job itself is known to whoever sent it. */
export type Arrived = "added" | "key_reused" | "storage_full" | { readonly replayed: Job };

export interface Accepting {
  add(at: Stamp, arrival: Arrival): Arrived;
}

export function createAccepting(db: Database, purger: Purger, ledger: Ledger): Accepting {
  const insertJob = db.prepare(INSERT_JOB);
  const insertBody = db.prepare(INSERT_BODY);
  const insertEvent = db.prepare(INSERT_EVENT);
  const byKey = db.prepare<[string, string], JobRow>(BY_KEY);
  const freeKey = db.prepare(FREE_KEY);

  /** What the key already stands for; null when the job may be added. */
  const earlier = ({ caller, key, fingerprint }: Arrival): Arrived | null => {
    if (key === null) return null;
    const row = byKey.get(caller, key);
    if (row === undefined) return null;
    if (row.status === CANCELLED && (row.cancel_reason === "lease_expired" || row.cancel_reason === "disconnect")) {
      freeKey.run(row.seq);
      return null;
    }
    return row.fingerprint?.toString("hex") === fingerprint ? { replayed: toJob(row) } : "key_reused";
  };

  return {
    add(at, arrival) {
      const found = earlier(arrival);
      if (found !== null) return found;
      if (!purger.makeRoom(at.atMs, arrival.sizeBytes)) return "storage_full";
      const { lastInsertRowid: seq } = insertJob.run(...arrival.job);
      if (arrival.body !== null) insertBody.run(seq, ...arrival.body);
      insertEvent.run(seq, arrival.acceptedAtMs);
      ledger.jobsBy(1);
      ledger.bytesBy(arrival.sizeBytes);
      return "added";
    },
  };
}

/** @param made The job as it will be; its row says the same. */
export function arrivalOf(made: Job, { body, idempotency }: NewJob, home: OwnerId): Arrival {
  const key = made.durable ? (idempotency?.key ?? null) : null;
  const fingerprint = made.durable && idempotency !== null ? hex(idempotency.fingerprint) : null;
  return {
    job: [
      made.id,
      made.pool,
      made.caller,
      made.model,
      made.endpoint,
      made.priority,
      made.rank,
      made.stream ? 1 : 0,
      made.durable ? 1 : 0,
      made.createdAtMs,
      made.acceptedAtMs,
      made.leaseMs,
      made.deadlineAtMs,
      made.acceptedAtMs,
      home,
      made.traceparent,
      made.clientRequestId,
      JSON.stringify(made.metadata),
      key,
      fingerprint,
      ORIGINS.indexOf(made.origin),
    ],
    body: made.durable ? bodyColumns(body) : null,
    acceptedAtMs: made.acceptedAtMs,
    sizeBytes: made.durable ? ownBytes(body) : 0,
    caller: made.caller,
    key,
    fingerprint,
  };
}

export /** What the job itself adds to what is stored: a slice lies in a file that is counted already. */
function ownBytes({ source, sizeBytes }: Body): number {
  return source.kind === "file" && isSlice(source.uri) ? 0 : sizeBytes;
}

export function bodyColumns(body: Body): Value[] {
  const { source } = body;
  if (source.kind === "bytes" && source.bytes.byteLength !== body.sizeBytes) {
    throw new Error(`the body has ${source.bytes.byteLength} bytes where ${body.sizeBytes} were announced`);
  }
  return [
    body.contentType,
    body.sizeBytes,
    hex(body.sha256),
    JSON.stringify(body.headers),
    body.modelSpan?.[0] ?? null,
    body.modelSpan?.[1] ?? null,
    source.kind === "file" ? source.uri : null,
    source.kind === "bytes" ? source.bytes : null,
  ];
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
