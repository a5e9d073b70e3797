// Everything the client throws of its own, each with a `code` that does not change. An aborted call throws the signal's
// own reason instead.

import type { JobErrorWire, Receipt } from "./wire.ts";

/** The base of all of them. */
export class SirError extends Error {
  /** The router's code, or one of the client's own: `deadline_exceeded`, `connection_failed`, `model_not_routed`, … */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** The deadline of the call passed; its job has been told to stop. */
export class DeadlineExceeded extends SirError {
  constructor(seconds: number) {
    super("deadline_exceeded", `No answer within the deadline of ${seconds} s; the job is being cancelled.`);
    // What `AbortSignal.timeout` throws is called so, and SDKs look at the name.
    this.name = "TimeoutError";
  }
}

/** Nothing answered, for longer than the client is patient. `cause` is the last failure. */
export class ConnectionError extends SirError {}

/** No endpoint is known for the model, and there is none for all others. Nothing was sent. */
export class ModelNotRouted extends SirError {}

/** The server pointed at another origin; nothing is sent there, because it would have the caller's key. */
export class ForeignLocation extends SirError {
  constructor(found: string, expected: string) {
    super(
      "foreign_location",
      `The server at ${expected} points to ${found}, another origin, which is not followed. A proxy that rewrites Location may be the cause.`,
    );
  }
}

/** An answer that says no. */
export class ApiError extends SirError {
  readonly status: number;
  readonly type: string | null;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly headers: Headers;
  /** The answer's JSON, or its text where it is none. */
  readonly body: unknown;

  constructor(response: Response, body: unknown) {
    const error = errorIn(body);
    const code = typeof error.code === "string" ? error.code : `http_${response.status}`;
    const message = typeof error.message === "string" ? error.message : `The server answered ${response.status}.`;
    super(code, message);
    this.status = response.status;
    this.type = error.type ?? null;
    this.param = error.param ?? null;
    this.requestId = response.headers.get("x-request-id");
    this.headers = response.headers;
    this.body = body;
  }
}

export class AuthenticationError extends ApiError {}
export class PermissionDenied extends ApiError {}
/** No such job: unknown, another caller's, or its answer was removed after its time. */
export class JobNotFound extends ApiError {}
export class ModelNotFound extends ApiError {}
/** The caller's own limits; `Retry-After` has been waited for already, as long as the client is patient. */
export class RateLimited extends ApiError {}
/** The router takes no work just now (`queue_full`, `draining`, …), longer than the client is patient. */
export class Unavailable extends ApiError {}
/** The job ran and its engine refused or failed; `status` and `body` are what its caller would have had directly. */
export class JobFailed extends ApiError {}
/** The deadline passed before the job was started. */
export class JobExpired extends ApiError {}

export class JobCancelled extends ApiError {
  readonly reason: NonNullable<JobErrorWire["reason"]> | null;

  constructor(response: Response, body: unknown) {
    super(response, body);
    this.reason = errorIn(body).reason ?? null;
  }
}

const BY_CODE: Readonly<Record<string, typeof ApiError>> = {
  job_cancelled: JobCancelled,
  job_expired: JobExpired,
  job_not_found: JobNotFound,
  result_expired: JobNotFound,
  model_not_found: ModelNotFound,
};
const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  401: AuthenticationError,
  403: PermissionDenied,
  429: RateLimited,
  503: Unavailable,
};

/** The error for an answer that is no success, by the job's end, its code and its status, in that order. */
export function refusal(response: Response, text: string): ApiError {
  const body = parsed(text) ?? text;
  const code = errorIn(body).code ?? "";
  const failed = response.headers.get("sir-job-status") === "failed";
  const Kind = failed ? JobFailed : (BY_CODE[code] ?? BY_STATUS[response.status] ?? ApiError);
  return new Kind(response, body);
}

/** Undefined where the text is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isReceipt(value: unknown): value is Receipt {
  return typeof value === "object" && value !== null && (value as Receipt).object === "job";
}

function errorIn(body: unknown): Partial<JobErrorWire> {
  const { error } = (typeof body === "object" && body !== null ? body : {}) as { error?: unknown };
  return typeof error === "object" && error !== null ? error : {};
}
