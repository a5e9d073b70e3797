// Everything the client throws of its own, each with a `code` that does not change. An aborted call throws the signal's
// own reason instead.

import type { JobErrorWire, Receipt } from "./wire.ts";

/** The base of all of them. */
export class SirError extends Error {
  /** The router's code, or one of the client's own: `deadline_exceeded`, `connection_failed`, `model_not_routed`, … */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    // Not the class's own name, which a minifier changes.
    this.name = "SirError";
    this.code = code;
  }
}

/** The deadline of the call passed. */
export class DeadlineExceeded extends SirError {
  constructor(seconds: number) {
    super("deadline_exceeded", `No answer within the deadline of ${seconds} s.`);
    // What `AbortSignal.timeout` throws is called so, and SDKs look at the name.
    this.name = "TimeoutError";
  }
}

/** Nothing answered, for longer than the client is patient. `cause` is the last failure. */
export class ConnectionError extends SirError {}

/** No endpoint is known for the model, and there is none for all others. Nothing was sent. */
export class ModelNotRouted extends SirError {}

/** The server pointed at another origin; nothing is sent there, because it would have the caller's key. */
export class ForeignLocation extends SirError {}

/** An answer that says no. */
export class ApiError extends SirError {
  readonly status: number;
  readonly type: string | null;
  readonly param: string | null;
  /** Why a job was cancelled. */
  readonly reason: JobErrorWire["reason"] | null;
  readonly headers: Headers;
  /** The answer's JSON, or its text where it is none. */
  readonly body: unknown;

  constructor({ status, headers }: Response, body: unknown) {
    const { code, message, type = null, param = null, reason = null } = errorIn(body);
    super(`${code ?? `http_${status}`}`, message ?? `The server answered ${status}.`);
    this.status = status;
    this.type = type;
    this.param = param;
    this.reason = reason;
    this.headers = headers;
    this.body = body;
  }

  get requestId(): string | null {
    return this.headers.get("x-request-id");
  }
}

/** No such job: unknown, another caller's, or its answer was removed after its time. */
export class JobNotFound extends ApiError {}
/** The job ran and its engine refused or failed; `status` and `body` are what its caller would have had directly. */
export class JobFailed extends ApiError {}
/** The deadline passed before the job was started. */
export class JobExpired extends ApiError {}

/** `reason` says by whom or what. */
export class JobCancelled extends ApiError {}

const BY_CODE: Readonly<Record<string, typeof ApiError>> = {
  job_cancelled: JobCancelled,
  job_expired: JobExpired,
  job_not_found: JobNotFound,
  result_expired: JobNotFound,
};

/** The error for an answer that is no success, by the job's end and the answer's code. */
export function refusal(response: Response, text: string): ApiError {
  const body = parsed(text) ?? text;
  const failed = response.headers.get("sir-job-status") === "failed";
  const Kind = failed ? JobFailed : (BY_CODE[errorIn(body).code ?? ""] ?? ApiError);
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
  return (Object(value) as Receipt).object === "job";
}

/** OpenAI's error object, or nothing; engines put numbers into `code`. */
function errorIn(body: unknown): Partial<JobErrorWire> {
  const { error } = Object(body) as { error?: unknown };
  return Object(error) as Partial<JobErrorWire>;
}
