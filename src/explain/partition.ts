// A job's life cut into causes: at each instant the first true one of `CAUSES` holds. Instants are rounded to whole ms once,
// before anything is cut, so the stretches touch, never overlap, and sum to the life exactly. What no record explains is
// `dispatch`, and is counted apart: it should be next to nothing.

import type { Job, Spent } from "../domain/job.ts";
import { CAUSES, type Cause, type Wait } from "../domain/wait.ts";
import type { LifeFacts, Part, Span, Split, Stretch, StretchDetail, Subject, Try } from "./parts.ts";

const ORDER = new Map<Cause, number>(CAUSES.map((cause, index) => [cause, index]));
const NOTHING: StretchDetail = {};
const NOBODY = { rule: null, by: null, device: null, decision: null } as const;
const UNEXPLAINED: Subject = { cause: "dispatch", ...NOBODY };

/** Something that says why, for a while. */
interface Claim extends Span {
  readonly rank: number;
  readonly subject: Subject;
  readonly detail: StretchDetail;
  /** From the stretches of its model's queue. */
  readonly recorded: boolean;
}

/** Where the life ends so far: at its end, or now. */
export function endOf(job: Job, nowMs: number): number {
  return "finishedAtMs" in job.state ? job.state.finishedAtMs : nowMs;
}

export function splitLife(facts: LifeFacts): Split {
  const fromMs = Math.round(facts.job.acceptedAtMs);
  const toMs = Math.max(fromMs, Math.round(endOf(facts.job, facts.nowMs)));
  const claims = claimsOf(facts, fromMs, toMs);
  const cuts = [...new Set([fromMs, toMs, ...claims.flatMap((claim) => [claim.fromMs, claim.toMs])])];
  cuts.sort((a, b) => a - b);
  const stretches: Stretch[] = [];
  let unexplainedMs = 0;
  let doubledMs = 0;
  let active: Claim[] = [];
  for (let i = 1, next = 0; i < cuts.length; i++) {
    const span = { fromMs: cuts[i - 1] ?? fromMs, toMs: cuts[i] ?? toMs };
    active = active.filter((claim) => claim.toMs > span.fromMs);
    for (let claim = claims[next]; claim !== undefined && claim.fromMs <= span.fromMs; claim = claims[++next]) {
      active.push(claim);
    }
    const first = firstOf(active);
    if (first === null) unexplainedMs += span.toMs - span.fromMs;
    if (active.filter(({ recorded }) => recorded).length > 1) doubledMs += span.toMs - span.fromMs;
    put(stretches, { ...(first?.subject ?? UNEXPLAINED), ...span, detail: first?.detail ?? NOTHING });
  }
  return { stretches, fromMs, toMs, totalMs: toMs - fromMs, unexplainedMs, doubledMs };
}

/** Everything that says why within the life, in the order of its start. */
function claimsOf(facts: LifeFacts, fromMs: number, toMs: number): Claim[] {
  const claims: Claim[] = [];
  const claim = (span: { fromMs: number; toMs: number | null }, of: Omit<Claim, keyof Span | "rank">): void => {
    const from = Math.max(fromMs, Math.round(span.fromMs));
    const to = Math.min(toMs, span.toMs === null ? toMs : Math.round(span.toMs));
    if (to > from) claims.push({ ...of, fromMs: from, toMs: to, rank: rankOf(of) });
  };
  const plain = (cause: Cause, detail: StretchDetail): Omit<Claim, keyof Span | "rank"> => ({
    ...{ subject: { cause, ...NOBODY }, detail, recorded: false },
  });
  for (const span of facts.downtimes) claim(span, plain("router_down", NOTHING));
  for (const [i, each] of facts.attempts.entries()) {
    const cause = i < facts.attempts.length - 1 ? "lost_attempt" : lastCause(facts.job);
    claim({ fromMs: each.startedAtMs, toMs: each.endedAtMs }, plain(cause, triedDetail(each)));
    const backsOffTo = each.runAfterMs;
    if (each.endedAtMs !== null && backsOffTo !== null) {
      claim({ fromMs: each.endedAtMs, toMs: backsOffTo }, plain("retry_backoff", triedDetail(each)));
    }
  }
  for (const wait of facts.waits) {
    if (wait.model === facts.job.model) claim(wait, recordedAs(wait, facts));
  }
  return claims.sort((a, b) => a.fromMs - b.fromMs);
}

/** What is said of a queue is said of those that are in it, so an attempt comes first whatever it is. */
function rankOf({ subject, recorded }: Pick<Claim, "subject" | "recorded">): number {
  const rank = ORDER.get(subject.cause) ?? CAUSES.length;
  return recorded ? Math.max(rank, ORDER.get("paused") ?? 0) : rank;
}

function recordedAs(wait: Wait, { loads = [] }: LifeFacts): Omit<Claim, keyof Span | "rank"> {
  const { cause, rule, by, device, decision } = wait;
  const tier =
    cause === "loading" ? loads.find((load) => load.decision === decision && load.device === device)?.tier : null;
  const detail = { ...(wait.detail ?? NOTHING), ...(tier == null ? {} : { tier }) };
  return { subject: { cause, rule, by, device, decision }, detail, recorded: true };
}

function triedDetail({ attempt, firstByteAtMs, outcome, detail }: Try): StretchDetail {
  return {
    attempt,
    ...(firstByteAtMs === null ? {} : { firstByteAtMs: Math.round(firstByteAtMs) }),
    ...(outcome === null ? {} : { outcome }),
    ...(detail === null ? {} : { error: detail }),
  };
}

/** An attempt that another had to follow is lost; so is the last one of a job that ended in the queue. */
function lastCause(job: Job): Cause {
  const ran = job.state.status === "running" || ("startedAtMs" in job.state && job.state.startedAtMs !== null);
  return ran ? "running" : "lost_attempt";
}

function firstOf(active: readonly Claim[]): Claim | null {
  let first: Claim | null = null;
  for (const claim of active) if (first === null || claim.rank < first.rank) first = claim;
  return first;
}

/** Goes on with the last stretch where it is about the same. */
function put(stretches: Stretch[], next: Stretch): void {
  const last = stretches.at(-1);
  if (last === undefined || !sameSubject(last, next) || last.detail.attempt !== next.detail.attempt)
    stretches.push(next);
  else stretches[stretches.length - 1] = { ...last, toMs: next.toMs };
}

function sameSubject(a: Subject, b: Subject): boolean {
  return partKey(a) === partKey(b) && a.device === b.device && a.decision === b.decision;
}

function partKey({ cause, rule, by }: Subject): string {
  return `${cause}|${rule ?? ""}|${by ?? ""}`;
}

/** All stretches of one cause, rule and culprit as one, in order of first appearance. */
export function partsOf(stretches: readonly Stretch[]): Part[] {
  const parts = new Map<string, Part & { longestMs: number }>();
  for (const stretch of stretches) {
    const ms = stretch.toMs - stretch.fromMs;
    const before = parts.get(partKey(stretch));
    const longest = before === undefined || ms > before.longestMs ? stretch : before;
    const { cause, rule, by } = stretch;
    parts.set(partKey(stretch), {
      ...{ cause, rule, by, device: longest.device, decision: longest.decision, detail: longest.detail },
      ms: (before?.ms ?? 0) + ms,
      stretches: (before?.stretches ?? 0) + 1,
      fromMs: before?.fromMs ?? stretch.fromMs,
      toMs: stretch.toMs,
      longestMs: Math.max(before?.longestMs ?? 0, ms),
    });
  }
  return [...parts.values()].map(({ longestMs: _, ...part }) => part);
}

/** What is kept with a job at its end. */
export function spentOf({ stretches, totalMs }: Pick<Split, "stretches" | "totalMs">): Spent {
  const byCause = new Map<Cause, number>();
  for (const { cause, fromMs, toMs } of stretches) byCause.set(cause, (byCause.get(cause) ?? 0) + toMs - fromMs);
  const parts = [...byCause].map(([cause, ms]) => ({ cause, ms }));
  const runMs = byCause.get("running") ?? 0;
  const top = parts.filter(({ cause }) => cause !== "running").reduce((a, b) => (b.ms > a.ms ? b : a), NO_CAUSE);
  return { waitMs: totalMs - runMs, runMs, topCause: top.cause, parts };
}

const NO_CAUSE: { readonly cause: Cause | null; readonly ms: number } = { cause: null, ms: 0 };
