// The sections of the configuration that are about the router itself: server, store, jobs, sync, log.
// Each key: its unit (in its name), its default, one sentence.

import { z } from "zod";
import { bytes, count, GIB_BYTES, seconds, secondsAboveZero } from "./units.ts";

export const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const serverSection = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .default("127.0.0.1")
      .describe("Address to listen on; anything but loopback is open to the network, which `keys` should guard."),
    port: count(0, 65_535).default(8000).describe("TCP port to listen on; 0 takes any free one."),
    bodyLimitBytes: bytes(1024)
      .default(67_108_864)
      .describe("Largest request body that is accepted; a larger one gets 413."),
    shutdownSeconds: seconds()
      .default(10)
      .describe("After SIGTERM running work may finish for so long; then it is queued again, uncharged."),
  })
  .prefault({})
  .describe("Where the router listens and how it stops.");

export const storeSection = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .default("sqlite:./data/sir.db")
      .describe("Where jobs live: sqlite:PATH, relative to this file; its folder is the data directory."),
  })
  .prefault({})
  .describe("The durable store.");

export const jobsSection = z
  .strictObject({
    leaseSeconds: secondsAboveZero()
      .default(60)
      .describe("A receipt that is not polled for so long is abandoned, and its job cancelled."),
    sweepSeconds: secondsAboveZero()
      .default(1)
      .describe("How often lapsed leases and passed deadlines are looked for."),
    resultTtlSeconds: secondsAboveZero().default(86_400).describe("How long a finished answer is kept, from its end."),
    readTtlSeconds: secondsAboveZero()
      .nullable()
      .default(null)
      .describe("How long an answer is kept after its first complete read; null: as long as any other."),
    maxAttempts: count(1, 100).default(3).describe("Tries of one job before it fails."),
    maxInterruptions: count(1, 1000)
      .default(10)
      .describe("How often a job may be interrupted (restart, lost engine) before it fails with poison."),
    maxQueued: count(1, 10_000_000)
      .default(1_000_000)
      .describe("Queued jobs over all models; beyond it new work gets 503 queue_full."),
    maxStoredBytes: bytes(1_048_576)
      .default(20 * GIB_BYTES)
      .describe("Stored bodies and answers; over it answers that were read go first, then new work is refused."),
    cancelGraceSeconds: seconds()
      .default(10)
      .describe("How long a cancelled engine call may keep its slot when its socket does not close."),
  })
  .prefault({})
  .describe("Leases, retention, retries and limits of jobs.");

export const batchesSection = z
  .strictObject({
    maxFileBytes: bytes(1024)
      .default(209_715_200)
      .describe("Largest file that may be uploaded; a larger one gets 413."),
    maxLines: count(1, 1_000_000)
      .default(50_000)
      .describe("Most requests in one batch; a longer one fails validation."),
    fileTtlSeconds: secondsAboveZero()
      .default(2_592_000)
      .describe("How long a batch's input and output files are kept when the caller names no expiry."),
  })
  .prefault({})
  .describe("Files and batches.");

export const syncSection = z
  .strictObject({
    holdSeconds: secondsAboveZero()
      .max(240)
      .default(50)
      .describe("How long a request without Prefer is held before it is answered or redirected."),
    redirect: z
      .boolean()
      .default(true)
      .describe("After the hold: a 303 to the result, which SDKs follow; false keeps holding."),
    orphanSeconds: seconds()
      .default(10)
      .describe("How long a request whose socket closed keeps its place, when its caller can come back."),
  })
  .prefault({})
  .describe("Requests that wait for their answer on an open socket.");

export const logSection = z
  .strictObject({
    level: z
      .enum(LOG_LEVELS)
      .default("info")
      .describe("Least important log line that is written; info has each decision with its arithmetic."),
  })
  .prefault({})
  .describe("The log on standard error.");
