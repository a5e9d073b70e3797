// What a mock engine is going to answer, before any time passes: the flight plays a plan against the clock.

/** Refused at once, before any work. */
export interface Refusal {
  readonly kind: "refusal";
  readonly status: number;
  readonly body: string;
}

/** One body, complete after `tokens`. */
export interface WholePlan {
  readonly kind: "whole";
  readonly tokens: number;
  readonly contentType: string;
  body(): string | Uint8Array;
}

/** Server-sent events: `open` with the first token, one chunk a token, then `close` and the terminator. */
export interface StreamPlan {
  readonly kind: "stream";
  readonly tokens: number;
  readonly open: string;
  token(index: number): string;
  readonly close: string;
  readonly terminator: string;
}

export type Plan = Refusal | WholePlan | StreamPlan;

/** What an answer is labelled with; deterministic. */
export interface Label {
  /** 24 characters, unique within the backend. */
  readonly id: string;
  readonly createdAtSeconds: number;
}

/** An error in OpenAI's envelope. */
export function refusal(status: number, message: string, param: string | null = null): Refusal {
  const type = status === 404 ? "not_found_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { kind: "refusal", status, body: JSON.stringify({ error: { message, type, param, code: null } }) };
}

export function whole(tokens: number, build: () => unknown): WholePlan {
  return { kind: "whole", tokens, contentType: "application/json", body: () => JSON.stringify(build()) };
}

/** One unnamed event. */
export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** One event whose name is its `type`. */
export function typed(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\n${data(value)}`;
}
