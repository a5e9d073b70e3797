// A final job as the HTTP answer its caller waited for: the engine's own status and bytes, or our verdict.

import { ERRORS, SirError } from "../domain/errors.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { Result } from "../store/store.ts";
import { type Call, type HttpWorld, onDelivered } from "./deps.ts";
import { envelope } from "./error-body.ts";
import { jobError } from "./receipt.ts";
import { toWire } from "./status-words.ts";

export const VARY = "Prefer, Authorization";
const DO_NOT_RETRY = { "x-should-retry": "false" };

/**
 * @param known The answer, where the caller has it already; else it is read from the store.
 * @throws {SirError} result_expired when the job completed but its answer is gone.
 */
export async function storedAnswer(c: Call, world: HttpWorld, job: Job, known: Result | null): Promise<Response> {
  c.set("job", job.id);
  const answered = job.state.status === "succeeded" || job.state.status === "failed";
  const stored = known ?? (answered && job.durable ? await world.store.result(job.id) : null);
  const response = stored === null ? ownVerdict(job) : replay(stored);
  if (stored !== null && job.durable && c.req.method !== "HEAD") onDelivered(c, () => world.store.markRead(job.id));
  if (stored !== null && job.endpoint === "/v1/responses") world.passing.note(job.caller, stored.body);
  response.headers.set("sir-job-id", job.id);
  response.headers.set("vary", VARY);
  return response;
}

function replay(result: Result): Response {
  const ok = result.status >= 200 && result.status < 300;
  const headers = { ...result.headers, ...(ok ? {} : DO_NOT_RETRY) };
  return new Response(mayHaveBody(result.status) ? (result.body as Uint8Array<ArrayBuffer>) : null, {
    status: result.status,
    headers,
  });
}

function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

function ownVerdict(job: Job): Response {
  const error = jobError(job);
  if (error === null) {
    const why =
      job.resultPurgedAtMs !== null || job.durable
        ? "The answer was removed, because it had been kept for its time."
        : "The answer was given to the caller who waited for it, and was not stored.";
    throw new SirError("result_expired", `${why} Its receipt says ${toWire(job.state.status)}.`);
  }
  return envelope(verdictStatus(job), error, DO_NOT_RETRY);
}

/** 4xx where it is the caller's affair, 504 for a timeout, 502 for everything else: what clients do not repeat. */
export function verdictStatus(job: Job): number {
  const { state } = job;
  if (state.status !== "failed") return 400;
  if (state.error.code === "engine_refused") return 400;
  const { status } = ERRORS[state.error.code];
  return status < 500 && status !== 429 ? status : status === 504 ? 504 : 502;
}

/** Marks the answer as the end of a job, for clients that poll for it. */
export function withJobStatus(response: Response, job: Job): Response {
  if (isFinal(job.state.status)) response.headers.set("sir-job-status", toWire(job.state.status));
  response.headers.set("cache-control", "no-store");
  return response;
}
