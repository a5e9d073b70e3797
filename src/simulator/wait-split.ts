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
    const cause = firstCause(holding) ?? (backsOff(span, facts.attempts) ? "retry_backoff" : null);
    if (cause === null) unexplainedMs += span.toMs - span.fromMs;
    if (holding.filter((claim) => claim.recorded).length > 1) doubledMs += span.toMs - span.fromMs;
    const last = parts.at(-1);
    if (last !== undefined && last.cause === (cause ?? "dispatch"))
      parts[parts.length - 1] = { ...last, toMs: span.toMs };
    else parts.push({ cause: cause ?? "dispatch", ...span });
  }
  return { parts, totalMs: toMs - fromMs, unexplainedMs, doubledMs };
}

function claimsOf({ job, attempts, waits, downtimes }: LifeFacts, endMs: number): Claim[] {
  const claims: Claim[] = downtimes.map((span) => ({ cause: "router_down", recorded: false, ...span }));
  for (const [i, { startedAtMs, endedAtMs }] of attempts.entries()) {
    const cause = i < attempts.length - 1 ? "lost_attempt" : lastCause(job);
    claims.push({ cause, recorded: false, fromMs: startedAtMs, toMs: endedAtMs ?? endMs });
  }
  const lastEndMs = attempts.findLast(({ endedAtMs }) => endedAtMs !== null && endedAtMs < job.runAfterMs)?.endedAtMs;
  if (lastEndMs != null)
    claims.push({ cause: "retry_backoff", recorded: false, fromMs: lastEndMs, toMs: job.runAfterMs });
  for (const wait of waits) {
    if (wait.model !== job.model) continue;
    claims.push({ cause: wait.cause, recorded: true, fromMs: wait.fromMs, toMs: wait.toMs ?? endMs });
  }
  return claims;
}

function firstCause(holding: readonly Claim[]): Cause | null {
  let first: Claim | null = null;
  for (const claim of holding) if (first === null || rank(claim) < rank(first)) first = claim;
  return first?.cause ?? null;
}

/** Only the last back-off's end is recorded; of earlier ones we know that they follow a failed attempt, and how long they may be. */
function backsOff(span: Span, attempts: readonly Attempt[]): boolean {
  return attempts.some(({ outcome, endedAtMs }) => {
    const backs = outcome === "failed" || outcome === "busy" || outcome === "lost";
    return backs && endedAtMs !== null && span.fromMs >= endedAtMs && span.toMs <= endedAtMs + BACK_OFF_MAX_MS;
  });
}

/** An attempt that another had to follow is lost; so is the last one of a job that ended in the queue. */
function lastCause(job: Job): Cause {
  const ran = job.state.status === "running" || ("startedAtMs" in job.state && job.state.startedAtMs !== null);
  return ran ? "running" : "lost_attempt";
}

function rank(claim: Claim): number {
  return ORDER.get(claim.cause) ?? CAUSES.length;
}
