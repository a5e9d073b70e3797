// A job as its receipt. The engine's own JSON is spliced in as the bytes it sent: parsed to be judged, never rewritten.

import { isUtf8 } from "node:buffer";
import type { JobErrorWire, QueueWire, Receipt } from "../client/wire.ts";
import { ERRORS } from "../domain/errors.ts";
import { type CancelReason, isFinal, type Job, type JobError } from "../domain/job.ts";
import type { Place, StartRange } from "../engine/control.ts";
import type { Result } from "../store/store.ts";
import type { HttpWorld } from "./deps.ts";
import { toWire } from "./status-words.ts";

const SPLICE_LIMIT_BYTES = 1024 * 1024;
const UNKNOWN_ESTIMATE_MS = 10_000;
const RUNNING_POLL_SECONDS = 2;

/** Everything but the answer. */
export type ReceiptFacts = Omit<Receipt, "response">;

export async function receiptFacts(world: HttpWorld, job: Job): Promise<ReceiptFacts> {
  return (await placedFacts(world, job)).facts;
}

/** With the place that they were made from; null: it is not queued. */
export async function placedFacts(
  world: HttpWorld,
  job: Job,
): Promise<{ readonly facts: ReceiptFacts; readonly place: Place | null }> {
  const place = job.state.status === "queued" ? await world.engine.queue.place(job) : null;
  const leaseAtMs = isFinal(job.state.status) ? null : world.engine.leaseExpiresAtMs(job.id);
  return { facts: factsOf(job, place, leaseAtMs), place };
}

export function factsOf(job: Job, place: Place | null, leaseAtMs: number | null): ReceiptFacts {
  const { state } = job;
  const final = isFinal(state.status);
  const startedAtMs = "startedAtMs" in state ? state.startedAtMs : null;
  const self = `/v1/jobs/${job.id}`;
  return {
    id: job.id,
    object: "job",
    status: toWire(state.status),
    endpoint: job.endpoint,
    model: job.model,
    created_at: Math.floor(job.createdAtMs / 1000),
    started_at: shown(job, startedAtMs),
    completed_at: shown(job, "finishedAtMs" in state ? state.finishedAtMs : null),
    expires_at: final ? shown(job, job.purgeAfterMs) : null,
    priority: job.priority,
    attempts: job.attempts,
    interruptions: job.interruptions,
    metadata: job.metadata,
    trace_id: job.traceparent?.split("-")[1] ?? null,
    queue: place === null ? null : queueWire(job, place),
    lease: final || job.leaseMs === null ? null : { seconds: job.leaseMs / 1000, expires_at: shown(job, leaseAtMs) },
    retry_after: pollSeconds(job, place),
    error: jobError(job),
    urls: { self, result: `${self}/result`, events: `${self}/events`, cancel: `${self}/cancel` },
  };
}

/** Unix seconds of an instant of router time: counted from the job's creation, so that it never drifts. */
export function shown(job: Job, atMs: number | null): number | null {
  return atMs === null ? null : Math.floor((job.createdAtMs + atMs - job.acceptedAtMs) / 1000);
}

/** When to poll next: 1 to min(60, a third of the lease), so that obeying it can never lose the lease. */
export function pollSeconds(job: Job, place: Place | null): number | null {
  if (isFinal(job.state.status)) return null;
  const ceiling = Math.min(60, Math.max(1, Math.floor((job.leaseMs ?? Number.POSITIVE_INFINITY) / 3000)));
  if (job.state.status === "running") return Math.min(ceiling, RUNNING_POLL_SECONDS);
  const quarter = Math.ceil((place?.estimatedMs ?? UNKNOWN_ESTIMATE_MS) / 4000);
  return Number.isFinite(quarter) ? Math.min(ceiling, Math.max(1, quarter)) : ceiling;
}

function queueWire(job: Job, place: Place): QueueWire {
  const { loading, blocked } = place;
  return {
    position: place.position,
    queued: place.queued,
    resident: place.resident,
    needs_swap: place.needsSwap,
    load_seconds: seconds(place.loadMs),
    dispatch_within_seconds: place.loadBoundMs === null ? null : seconds(place.loadBoundMs),
    estimated_seconds: place.estimatedMs === null ? null : seconds(place.estimatedMs),
    estimate:
      place.estimatedRange === null
        ? null
        : {
            low_seconds: seconds(place.estimatedRange.lowMs),
            mid_seconds: seconds(place.estimatedMs ?? 0),
            high_seconds: seconds(place.estimatedRange.highMs),
            observations: place.estimatedRange.observations,
          },
    start: place.start === null ? null : startWire(place.start),
    because: null,
    deadline_feasible: isFeasible(job, place),
    blocked: blocked === null ? null : { reason: blocked.reason, retry_at: shown(job, blocked.retryAtMs) },
    loading:
      loading === null
        ? null
        : {
            model: loading.model,
            phase: loading.phase,
            progress: loading.progress,
            since: shown(job, loading.sinceMs) ?? 0,
          },
    as_of: shown(job, place.asOfMs) ?? 0,
  };
}

function startWire({ lowMs, midMs, highMs, observations }: StartRange): NonNullable<QueueWire["start"]> {
  return { low_seconds: seconds(lowMs), mid_seconds: seconds(midMs), high_seconds: seconds(highMs), observations };
}

/** Null: there is no deadline, or nobody knows. */
function isFeasible({ deadlineAtMs }: Job, { estimatedMs, asOfMs }: Place): boolean | null {
  return deadlineAtMs === null || estimatedMs === null ? null : asOfMs + estimatedMs <= deadlineAtMs;
}

/** Milliseconds as seconds, to the millisecond. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

const CANCELLED_BECAUSE: Readonly<Record<CancelReason, string>> = {
  client: "The job was cancelled by its caller.",
  lease_expired: "The job was cancelled because nobody polled it before its lease ran out.",
  deadline: "The job was cancelled because its deadline passed while it ran.",
  admin: "The job was cancelled by an operator.",
  disconnect:
    "The job was cancelled because the connection that waited for it ended: its caller hung up, or the router went down.",
};

/** The error of a job that did not complete, null for every other. */
export function jobError(job: Job): JobErrorWire | null {
  const { state } = job;
  if (state.status === "failed") return failure(state.error);
  if (state.status === "expired") return ours("job_expired", "The job's deadline passed before it was started.");
  if (state.status !== "cancelled") return null;
  return { ...ours("job_cancelled", CANCELLED_BECAUSE[state.reason]), reason: state.reason };
}

function failure({ code, message }: JobError): JobErrorWire {
  if (code !== "engine_refused") return ours(code, message);
  return { message, type: "invalid_request_error", param: null, code };
}

function ours(code: keyof typeof ERRORS, message: string): JobErrorWire {
  return { message, type: ERRORS[code].type, param: null, code };
}

export interface Answer {
  readonly result: Result;
  /** The body itself stands in the receipt; else only its type and size. */
  readonly whole: boolean;
}

export function answerOf(result: Result | null): Answer | null {
  return result === null ? null : { result, whole: isJson(result) };
}

/** The receipt's bytes, with the answer spliced in when there is one. */
export function receiptBytes(facts: ReceiptFacts, given: Answer | null): Uint8Array {
  const { error, urls, ...before } = facts;
  const head = `${JSON.stringify(before).slice(0, -1)},"response":`;
  const tail = `,"error":${JSON.stringify(error)},"urls":${JSON.stringify(urls)}}`;
  const answer = given === null ? [Buffer.from("null")] : responseParts(facts.id, given);
  return Buffer.concat([Buffer.from(head), ...answer, Buffer.from(tail)]);
}

function responseParts(id: string, { result, whole }: Answer): Uint8Array[] {
  const start = `{"status_code":${result.status},"request_id":${JSON.stringify(id.replace(/^job_/, "req_"))},"body":`;
  if (whole) return [Buffer.from(start), result.body, Buffer.from("}")];
  const type = JSON.stringify(result.headers["content-type"] ?? "application/octet-stream");
  return [Buffer.from(`${start}null,"content_type":${type},"bytes":${result.body.length}}`)];
}

/** Whether the body may stand inside another JSON document. Parsed for the verdict alone. */
function isJson({ headers, body }: Result): boolean {
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !type.endsWith("+json")) return false;
  if (body.length > SPLICE_LIMIT_BYTES || !isUtf8(body)) return false;
  try {
    JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
    return true;
  } catch {
    return false;
  }
}

/** Changes when anything in a final job's receipt can have changed. */
export function receiptTag(job: Job): string {
  const purged = job.resultPurgedAtMs === null ? "" : "-purged";
  return `"${job.id.slice(4)}-${job.epoch}-${Math.floor((job.purgeAfterMs ?? 0) / 1000)}${purged}"`;
}
