// A job's life cut into causes: at each instant the first true one of `CAUSES` holds, so that the parts touch, never
// overlap, and sum to the life exactly. What no record explains is `dispatch`, and is counted apart: it should be nothing.

import type { Job } from "../domain/job.ts";
import { CAUSES, type Cause, type Wait } from "../domain/wait.ts";
import type { Attempt } from "../store/store.ts";

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface LifeFacts {
  readonly job: Job;
  /** Null: it lives on; then the split ends here. */
  readonly nowMs: number;
  readonly attempts: readonly Attempt[];
  /** Stretches of the job's model; others are ignored. */
  readonly waits: readonly Wait[];
  readonly downtimes: readonly Span[];
}

export interface Part {
  readonly cause: Cause;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Split {
  readonly parts: readonly Part[];
  readonly totalMs: number;
  /** Queued, and no stretch of its model says why. */
  readonly unexplainedMs: number;
  /** Two stretches of its model at once. */
  readonly doubledMs: number;
}

/** The longest back-off after a failed attempt. */
const BACK_OFF_MAX_MS = 60_000;

const ORDER = new Map<Cause, number>(CAUSES.map((cause, index) => [cause, index]));

interface Claim extends Span {
  readonly cause: Cause;
  readonly recorded: boolean;
}

export function splitLife(facts: LifeFacts): Split {
  const { job } = facts;
  const fromMs = job.acceptedAtMs;
  const toMs = "finishedAtMs" in job.state ? job.state.finishedAtMs : facts.nowMs;
  const claims = claimsOf(facts, toMs).filter((claim) => claim.toMs > fromMs && claim.fromMs < toMs);
  const cuts = [...new Set([fromMs, toMs, ...claims.flatMap((claim) => [claim.fromMs, claim.toMs])])]
    .filter((cut) => cut >= fromMs && cut <= toMs)
    .sort((a, b) => a - b);
  const parts: Part[] = [];
  let unexplainedMs = 0;
  let doubledMs = 0;
  for (let i = 1; i < cuts.length; i++) {
    const span = { fromMs: cuts[i - 1] ?? fromMs, toMs: cuts[i] ?? toMs };
    const holding = claims.filter((claim) => claim.fromMs <= span.fromMs && claim.toMs >= span.toMs);
    const first = holding.reduce<Claim | null>(
      (best, claim) => (best === null || rank(claim) < rank(best) ? claim : best),
      null,
    );
    if (first === null) unexplainedMs += span.toMs - span.fromMs;
    if (holding.filter((claim) => claim.recorded).length > 1) doubledMs += span.toMs - span.fromMs;
    const cause = first?.cause ?? "dispatch";
    const last = parts.at(-1);
    if (last?.cause === cause) parts[parts.length - 1] = { ...last, toMs: span.toMs };
    else parts.push({ cause, ...span });
  }
  return { parts, totalMs: toMs - fromMs, unexplainedMs, doubledMs };
}

function claimsOf({ job, attempts, waits, downtimes }: LifeFacts, endMs: number): Claim[] {
  const claims: Claim[] = downtimes.map((span) => ({ cause: "router_down", recorded: false, ...span }));
  for (const [i, attempt] of attempts.entries()) {
    const toMs = attempt.endedAtMs ?? endMs;
    const next = attempts[i + 1];
    claims.push({
      cause: next === undefined ? lastCause(job) : "lost_attempt",
      recorded: false,
      fromMs: attempt.startedAtMs,
      toMs,
    });
    const untilMs = next?.startedAtMs ?? (job.state.status === "running" ? toMs : endMs);
    const backOffMs = Math.min(untilMs, toMs + BACK_OFF_MAX_MS);
    if (backedOff(attempt) && backOffMs > toMs) {
      claims.push({
        cause: "retry_backoff",
        recorded: false,
        fromMs: toMs,
        toMs: backedOffUntil(waits, job, toMs, backOffMs),
      });
    }
  }
  for (const wait of waits) {
    if (wait.model !== job.model) continue;
    claims.push({ cause: wait.cause, recorded: true, fromMs: wait.fromMs, toMs: wait.toMs ?? endMs });
  }
  return claims;
}

/** An attempt that another had to follow is lost; so is the last one of a job that ended in the queue. */
function lastCause(job: Job): Cause {
  const ran = job.state.status === "running" || ("startedAtMs" in job.state && job.state.startedAtMs !== null);
  return ran ? "running" : "lost_attempt";
}

function backedOff(attempt: Attempt): boolean {
  return attempt.outcome === "failed" || attempt.outcome === "busy" || attempt.outcome === "lost";
}

/** The exact end is in no record but the last; a back-off ends at the latest where the queue's own record begins. */
function backedOffUntil(waits: readonly Wait[], job: Job, fromMs: number, limitMs: number): number {
  const covered = waits.some(
    (wait) => wait.model === job.model && wait.fromMs <= fromMs && (wait.toMs ?? limitMs) > fromMs,
  );
  if (covered) return fromMs;
  const next = waits.filter((wait) => wait.model === job.model && wait.fromMs > fromMs).map((wait) => wait.fromMs);
  return Math.min(limitMs, ...next);
}

function rank(claim: Claim): number {
  return ORDER.get(claim.cause) ?? CAUSES.length;
}
