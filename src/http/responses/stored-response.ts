// A background job as the response that OpenAI's clients know: from its row, its stored request and its stored answer.

import { SirError } from "../../domain/errors.ts";
import type { JobId } from "../../domain/ids.ts";
import type { Job } from "../../domain/job.ts";
import { echoOf, owned } from "../../responses/echo.ts";
import { EventReader } from "../../responses/event-reader.ts";
import { isRecord, type Json, parseRecord, textOf } from "../../responses/json.ts";
import type { Facts } from "../../responses/own-events.ts";
import { readRequest } from "../../responses/reading.ts";
import type { Body, Result } from "../../store/store.ts";
import { callerOf } from "../caller.ts";
import type { Call, HttpWorld } from "../deps.ts";
import { jobError } from "../receipt.ts";

const ID = /^resp_([0-9a-f]{32})$/;
const FINAL = /^response\.(completed|incomplete|failed)$/;

export function responseId(job: Job): string {
  return job.id.replace("job_", "resp_");
}

/**
 * The background job that the path names.
 * @throws {SirError} response_not_found, also for one whose content was removed
 */
export async function ownResponse(c: Call, world: HttpWorld): Promise<Job> {
  const text = c.req.param("id") ?? "";
  const hex = ID.exec(text)?.[1];
  const job = hex === undefined ? null : await world.store.job(`job_${hex}` as JobId);
  const isOwn = job !== null && job.caller === callerOf(c) && job.origin === "background";
  if (!isOwn || job.resultPurgedAtMs !== null) throw notFound();
  c.set("job", job.id);
  return job;
}

/**
 * For a cancel: of a response that was made without `background` it says so.
 * @throws {SirError} not_background, response_not_found
 */
export async function cancellable(c: Call, world: HttpWorld): Promise<Job> {
  const text = c.req.param("id") ?? "";
  const hex = ID.exec(text)?.[1];
  const job = hex === undefined ? null : await world.store.job(`job_${hex}` as JobId);
  const isOwn = job !== null && job.caller === callerOf(c) && job.endpoint === "/v1/responses";
  if ((isOwn && job.origin !== "background") || world.passing.has(callerOf(c), text)) throw notBackground();
  return ownResponse(c, world);
}

function notFound(): SirError {
  return new SirError(
    "response_not_found",
    "There is no such background response: it was deleted, its time is over, or it was not made with background: true.",
    { param: "id" },
  );
}

function notBackground(): SirError {
  return new SirError(
    "not_background",
    "This response was not made with background: true; it ends with the request that made it.",
    { param: "id" },
  );
}

/** Of the request as it was accepted. */
export async function factsOf(world: HttpWorld, job: Job, known: Json | null = null): Promise<Facts> {
  const id = responseId(job);
  const createdAt = Math.floor(job.createdAtMs / 1000);
  if (known !== null) return { id, createdAt, echo: known };
  const body = await world.store.body(job.id);
  const { echo } = body === null ? { echo: echoOf({ ...job }) } : await readRequest(await bytesOf(world, body));
  return { id, createdAt, echo };
}

export async function bytesOf(world: HttpWorld, { source }: Body): Promise<Uint8Array> {
  if (source.kind === "bytes") return source.bytes;
  const chunks: Uint8Array[] = [];
  for await (const chunk of world.openBody(source.uri)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * As it is now.
 * @throws {SirError} response_not_found when its answer was removed meanwhile
 */
export async function responseNow(world: HttpWorld, job: Job, facts: Facts): Promise<Json> {
  const { status } = job.state;
  if (status === "queued") return owned(facts.echo, { status: "queued" }, facts);
  if (status === "running") return owned(facts.echo, { status: "in_progress" }, facts);
  if (status === "cancelled") return owned(facts.echo, { status: "cancelled" }, facts);
  const result = status === "expired" ? null : await world.store.result(job.id);
  return endedResponse(job, result, facts);
}

/** A job that is over, with what the engine said. */
export function endedResponse(job: Job, result: Result | null, facts: Facts): Json {
  if (job.state.status === "succeeded") {
    if (result === null) throw notFound();
    const answer = answerOf(result);
    if (answer !== null) return owned(facts.echo, { status: "completed", ...answer }, facts);
    return failed(facts, "server_error", "The engine's answer is no response.");
  }
  const words = result === null ? null : messageOf(result);
  if (words !== null) return failed(facts, "invalid_prompt", words);
  return failed(facts, "server_error", jobError(job)?.message ?? "The response failed.");
}

/** `code` is one of those that OpenAI's clients list. */
function failed(facts: Facts, code: "server_error" | "invalid_prompt", message: string): Json {
  return owned(facts.echo, { status: "failed", error: { code, message } }, facts);
}

function answerOf(result: Result): Json | null {
  return isEventStream(result) ? lastResponse(result.body) : parseRecord(result.body);
}

export function isEventStream({ headers }: Pick<Result, "headers">): boolean {
  return (headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
}

/** The end of a stream tells all of it: only its last events are read. */
function lastResponse(bytes: Uint8Array): Json | null {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let to = whole.length; to > 0; ) {
    const at = whole.lastIndexOf("data:", to - 1);
    if (at < 0) return null;
    const reader = new EventReader();
    const [event] = [...reader.push(whole.subarray(at)), ...reader.end()];
    if (event !== undefined && FINAL.test(textOf(event["type"])) && isRecord(event["response"]))
      return event["response"];
    to = at;
  }
  return null;
}

/** The engine's own words for a refusal. */
function messageOf(result: Result): string | null {
  const body = parseRecord(result.body);
  const error = isRecord(body?.["error"]) ? body["error"] : body;
  const message = error?.["message"] ?? error?.["detail"];
  return typeof message === "string" ? message : null;
}
