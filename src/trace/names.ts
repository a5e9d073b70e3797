// How spans and their attributes are called. The gen_ai names are OpenTelemetry's conventions for generative AI as of
// semantic conventions 1.38, which are still in development: when they change, they change here.

export const SPAN = { job: "sir.job", wait: "sir.wait", load: "sir.load" } as const;

export const NAME = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  errorType: "error.type",
  job: "sir.job.id",
  status: "sir.job.status",
  attempts: "sir.job.attempts",
  attempt: "sir.attempt",
  outcome: "sir.attempt.outcome",
  caller: "sir.caller",
  band: "sir.band",
  priority: "sir.priority",
  model: "sir.model",
  device: "sir.device",
  cause: "sir.cause",
  rule: "sir.rule",
  by: "sir.by",
  decision: "sir.decision",
  loadOutcome: "sir.load.outcome",
} as const;

const OPERATIONS: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "chat",
  "/v1/responses": "chat",
  "/v1/messages": "chat",
  "/v1/completions": "text_completion",
  "/v1/embeddings": "embeddings",
};

/** As the conventions call it; what they have no word for is called by its path. */
export function operationOf(endpoint: string): string {
  return OPERATIONS[endpoint] ?? endpoint.replace(/^\/(v1\/)?/, "");
}
