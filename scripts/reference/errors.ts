// The page on errors: every code with its status, and what its caller does about it.

import { ERRORS, type ErrorCode } from "../../src/domain/errors.ts";
import { code, heading, table } from "./table.ts";

const INTRO = `Always \`{"error":{"message","type","param","code"}}\`, with all four keys. The message says what was wrong, what came and
what to do. A 303's body has one too, \`redirect_not_followed\`: let the client follow redirects. SIR itself never answers 408, 409,
410 or 425: clients retry or mangle those. An engine's own refusal (4xx) passes byte for byte and is not in this table.`;

/** By code; a page that lacks one does not compile. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_json: "The body is no JSON. Correct it.",
  invalid_body: "The body lacks a field or has one that cannot be. The message names it.",
  missing_model: 'Name a model in `"model"`; `GET /v1/models` lists them.',
  invalid_header: "A header has a value that cannot be read. The message says which, and what it may be.",
  invalid_query: "A query parameter is unknown or cannot be read. The message lists what there is.",
  invalid_idempotency_key: "1 to 255 visible ASCII characters.",
  not_background: "Only responses made with `background: true` can be cancelled or followed.",
  unsupported_endpoint: "This path is none that an engine could answer.",
  engine_incompatible: "The model's engine has no such endpoint. Use another, or another model.",
  deadline_infeasible:
    "The backlog does not allow this deadline, and the caller asked to be refused then. Allow more time, or ask elsewhere.",
  job_cancelled: "The job was cancelled; `error.reason` says by whom. Submit again if the answer is still wanted.",
  job_expired: "Its deadline passed before it started. Submit again with more time.",
  invalid_api_key: "Send a valid key as `Authorization: Bearer …`.",
  model_not_allowed: "This key may not use this model. Ask an operator.",
  scope_missing: "The key is valid and lacks a scope, or the answer is another caller's. The message says which.",
  admin_not_allowed: "This key, address or page may not act as an operator. The message says what is missing.",
  model_not_found: "No such model or alias. `GET /v1/models` lists them.",
  job_not_found: "No such job of yours; it may have been removed after its time.",
  result_expired: "The answer was removed after its time. Submit again.",
  response_not_found: "No such response of yours; it may have been removed after its time.",
  file_not_found: "No such file of yours.",
  batch_not_found: "No such batch of yours.",
  decision_not_found: "No such decision; they are kept for seven days.",
  hint_not_found: "No such hint of yours.",
  replay_not_found: "No such replay; only the newest six are kept, and none outlives the router.",
  route_not_found: "No such route. `GET /openapi.json` lists all.",
  method_not_allowed: "The `Allow` header lists the methods of this route.",
  body_too_large: "Send less, or raise `server.bodyLimitBytes`.",
  unsupported_media_type: "Send JSON or multipart/form-data.",
  idempotency_key_reused: "The key belongs to another request. Use a new one.",
  rate_limit_exceeded: "Wait `Retry-After` seconds.",
  too_many_jobs: "Wait `Retry-After` seconds, and for jobs of yours to end.",
  too_many_hints: "Remove hints that are no longer needed.",
  internal_error: "A bug. The log has the request's id, which is in the `x-request-id` header.",
  backend_error: "The engine failed on every attempt. The message has its words.",
  backend_lost: "The engine went away during every attempt.",
  load_failed: "The model could not be loaded. `sir models logs NAME` shows the engine's last lines.",
  poison: "The job was running at too many crashes. It is not tried again.",
  execution_timeout: "The engine took longer than the model's limits.",
  queue_full: "Wait `Retry-After` seconds; `jobs.maxQueued` is the bound.",
  draining: "The router takes no new work. Wait `Retry-After` seconds, or ask another.",
  too_many_streams: "Sixty-four dashboards are open. Close some, or wait `Retry-After` seconds.",
  no_backend: "The model is broken or paused. Wait `Retry-After` seconds; `sir models` says why.",
  replay_running: "One replay at a time. Wait `Retry-After` seconds, or cancel the other.",
  storage_full: "The store is at its bound. Wait `Retry-After` seconds; an operator has to make room.",
  store_unavailable: "The store cannot commit at present. Wait `Retry-After` seconds.",
};

export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([name, kind]) => [
    String(kind.status),
    code(name),
    code(kind.type),
    kind.retryable ? "yes" : "no",
    ADVICE[name as ErrorCode],
  ]);
  const head = ["status", "code", "type", "`Retry-After`", "what to do"];
  return `${heading("Errors", INTRO)}\n${table(head, rows)}\n`;
}
