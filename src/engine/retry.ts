// What follows from how an attempt ended. Pure.

import type { Outcome } from "../backends/backend.ts";
import type { JobError } from "../domain/job.ts";

export type Next =
  | { readonly kind: "succeed" }
  /** The engine's 4xx: the caller's own, stored and passed on unchanged. */
  | { readonly kind: "refuse" }
  | { readonly kind: "fail"; readonly error: JobError }
  | {
      readonly kind: "requeue";
      readonly charge: "attempt" | "interruption" | "none";
      readonly delayMs: number;
      readonly detail: string;
    };

export interface AttemptFacts {
  /** With this one. */
  readonly attempts: number;
  readonly interruptions: number;
  readonly maxAttempts: number;
  readonly maxInterruptions: number;
  /** A streaming caller has had a byte: nobody else's bytes may follow. */
  readonly delivered: boolean;
  /** Why our own signal ended it, when it did. */
  readonly interruption: "drain" | "shutdown" | null;
}

const BACK_OFF_FIRST_MS = 1_000;
export const BACK_OFF_MAX_MS = 60_000;

export const backOffMs = (times: number): number =>
  Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.max(0, times));

/**
 * - Restart or shutdown: queued again, uncharged. Overdue drain: an interruption.
 * - Lost engine, engine 429 or 503: an interruption; the cap makes it `poison`.
 * - Cut body, missing terminator, in-band error, 5xx, timeout: an attempt, back-off 1 s, 2 s.
 */
export function afterAttempt(outcome: Outcome, facts: AttemptFacts): Next {
  switch (outcome.kind) {
    case "succeeded":
      return { kind: "succeed" };
    case "refused":
      return { kind: "refuse" };
    case "aborted":
      return facts.interruption === "shutdown"
        ? { kind: "requeue", charge: "none", delayMs: 0, detail: "the router stopped" }
        : interrupted(facts, 0, "interrupted so that another model could be loaded");
    case "busy":
      return interrupted(facts, outcome.retryAfterMs ?? backOffMs(facts.interruptions), outcome.detail);
    case "lost":
      return interrupted(facts, backOffMs(facts.interruptions), outcome.detail);
    case "failed":
      if (facts.delivered || facts.attempts >= facts.maxAttempts) {
        return { kind: "fail", error: { code: outcome.code, message: outcome.detail } };
      }
      return {
        kind: "requeue",
        charge: "attempt",
        delayMs: backOffMs(facts.attempts - 1),
        detail: outcome.detail,
      };
  }
}

function interrupted(facts: AttemptFacts, delayMs: number, detail: string): Next {
  if (facts.delivered) return { kind: "fail", error: { code: "backend_lost", message: detail } };
  if (facts.interruptions + 1 >= facts.maxInterruptions) {
    const message = `Interrupted ${facts.interruptions + 1} times, the last time because: ${detail}`;
    return { kind: "fail", error: { code: "poison", message } };
  }
  return { kind: "requeue", charge: "interruption", delayMs: Math.min(delayMs, BACK_OFF_MAX_MS), detail };
}
