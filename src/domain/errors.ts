// The closed table of errors a caller can meet. The statuses follow from what real clients retry:
// 408, 409, 410 and 425 are never our own verdict.

export interface ErrorKind {
  readonly status: number;
  /** OpenAI's `error.type`. */
  readonly type:
    | "invalid_request_error"
    | "authentication_error"
    | "permission_error"
    | "not_found_error"
    | "rate_limit_error"
    | "server_error";
  /** True: the answer carries `Retry-After`, 1 to 60 whole seconds. */
  readonly retryable: boolean;
}

const invalid = (status: number): ErrorKind => ({ status, type: "invalid_request_error", retryable: false });
const missing = (): ErrorKind => ({ status: 404, type: "not_found_error", retryable: false });
const server = (status: number, retryable = false): ErrorKind => ({ status, type: "server_error", retryable });
const limited = (): ErrorKind => ({ status: 429, type: "rate_limit_error", retryable: true });

export const ERRORS = {
  invalid_json: invalid(400),
  invalid_body: invalid(400),
  missing_model: invalid(400),
  invalid_header: invalid(400),
  invalid_query: invalid(400),
  invalid_idempotency_key: invalid(400),
  not_background: invalid(400),
  unsupported_endpoint: invalid(400),
  engine_incompatible: invalid(400),
  deadline_infeasible: invalid(400),
  job_cancelled: invalid(400),
  job_expired: invalid(400),
  invalid_api_key: { status: 401, type: "authentication_error", retryable: false },
  model_not_allowed: { status: 403, type: "permission_error", retryable: false },
  scope_missing: { status: 403, type: "permission_error", retryable: false },
  admin_not_allowed: { status: 403, type: "permission_error", retryable: false },
  model_not_found: missing(),
  job_not_found: missing(),
  result_expired: missing(),
  response_not_found: missing(),
  file_not_found: missing(),
  batch_not_found: missing(),
  decision_not_found: missing(),
  hint_not_found: missing(),
  replay_not_found: missing(),
  route_not_found: missing(),
  method_not_allowed: invalid(405),
  body_too_large: invalid(413),
  unsupported_media_type: invalid(415),
  idempotency_key_reused: invalid(422),
  rate_limit_exceeded: limited(),
  too_many_jobs: limited(),
  too_many_hints: limited(),
  internal_error: server(500),
  backend_error: server(502),
  backend_lost: server(502),
  load_failed: server(502),
  poison: server(502),
  execution_timeout: server(504),
  queue_full: server(503, true),
  draining: server(503, true),
  too_many_streams: server(503, true),
  no_backend: server(503, true),
  replay_running: server(503, true),
  storage_full: server(503, true),
  store_unavailable: server(503, true),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetail {
  /** The request's field or header at fault. */
  readonly param?: string;
  /** How long the caller should wait; rounded up and clamped to 1..60 s on the wire. */
  readonly retryAfterMs?: number;
  /** For `method_not_allowed`: the methods that are. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/**
 * An error a caller can meet. The message says what was wrong, what came and what to do, and never holds a body or a key.
 */
export class SirError extends Error {
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = "SirError";
    this.code = code;
    this.detail = detail;
  }

  get kind(): ErrorKind {
    return ERRORS[this.code];
  }
}
