// A job's life cut into causes: at each instant the first true one of `CAUSES` holds. Instants are rounded to whole ms once,
// before anything is cut, so the stretches touch, never overlap, and sum to the life exactly. What no record explains is
// `dispatch`, and is counted apart: it should be next to nothing.

import type { Job, Spent } from "./job.ts";
import type { LifeFacts, Part, Span, Split, Stretch, StretchDetail, Subject, Try } from "./life.ts";
import { CAUSES, type Cause, type Wait } from "./wait.ts";

const ORDER = new Map<Cause, number>(CAUSES.map((cause, index) => [cause, index]));
const NOTHING: StretchDetail = {};
const NO_WAIT = { rule: null, by: null, device: null, decision: null } as const;
const PAUSED_RANK = ORDER.get("paused") ?? 0;

/** Something that says why, for a while. Made by the hundred at each end of a job, so it refers to its source as it is. */
interface Claim extends Span {
  readonly rank: number;
  readonly cause: Cause;
  /** A stretch of its model's queue; null: said of the job itself. */
  readonly wait: Wait | null;
  readonly tried: Try | null;
}

/** Where the life ends so far: at its end, or now. */
export function endOf(job: Job, nowMs: number): number {
  return "finishedAtMs" in job.state ? job.state.finishedAtMs : nowMs;
}

export function splitLife(facts: LifeFacts): Split {
  const fromMs = Math.round(facts.job.acceptedAtMs);
  const toMs = Math.max(fromMs, Math.round(endOf(facts.job, facts.nowMs)));
  const claims = claimsOf(facts, fromMs, toMs);
  const cuts = cutsOf(claims, fromMs, toMs);
  const stretches: Stretch[] = [];
  const active: Claim[] = [];
  let last: { readonly claim: Claim | null; readonly fromMs: number } | null = null;
  let unexplainedMs = 0;
  let doubledMs = 0;
  for (let i = 1, next = 0; i < cuts.length; i++) {
    const atMs = cuts[i - 1] ?? fromMs;
    for (let k = active.length - 1; k >= 0; k--) if ((active[k]?.toMs ?? 0) <= atMs) active.splice(k, 1);
    for (let claim = claims[next]; claim !== undefined && claim.fromMs <= atMs; claim = claims[++next]) {
      active.push(claim);
    }
    const { first, waits } = holding(active);
    const ms = (cuts[i] ?? toMs) - atMs;
    if (first === null) unexplainedMs += ms;
    if (waits > 1) doubledMs += ms;
    if (last === null) last = { claim: first, fromMs: atMs };
    else if (!sameClaim(last.claim, first)) {
      stretches.push(stretchOf(last.claim, last.fromMs, atMs, facts));
      last = { claim: first, fromMs: atMs };
    }
  }
  if (last !== null) stretches.push(stretchOf(last.claim, last.fromMs, toMs, facts));
  return { stretches, fromMs, toMs, totalMs: toMs - fromMs, unexplainedMs, doubledMs };
}

/** Everything that says why within the life, in the order of its start. */
function claimsOf(facts: LifeFacts, fromMs: number, toMs: number): Claim[] {
  const claims: Claim[] = [];
  const claim = (from: number, to: number | null, cause: Cause, tried: Try | null, wait: Wait | null): void => {
    const startMs = Math.max(fromMs, Math.round(from));
    const endMs = to === null ? toMs : Math.min(toMs, Math.round(to));
    const rank = ORDER.get(cause) ?? CAUSES.length;
    // What is said of a queue is said of those that are in it, so an attempt comes first whatever it is.
    const behind = wait === null ? rank : Math.max(rank, PAUSED_RANK);
    if (endMs > startMs) claims.push({ fromMs: startMs, toMs: endMs, rank: behind, cause, wait, tried });
  };
  for (const gap of facts.downtimes) claim(gap.fromMs, gap.toMs, "router_down", null, null);
  for (const [i, each] of facts.attempts.entries()) {
    const cause = i < facts.attempts.length - 1 ? "lost_attempt" : lastCause(facts.job);
    claim(each.startedAtMs, each.endedAtMs, cause, each, null);
    if (each.endedAtMs !== null && each.runAfterMs !== null) {
      claim(each.endedAtMs, each.runAfterMs, "retry_backoff", each, null);
    }
  }
  for (const wait of facts.waits) {
    if (wait.model === facts.job.model) claim(wait.fromMs, wait.toMs, wait.cause, null, wait);
  }
  return claims.sort((a, b) => a.fromMs - b.fromMs);
}

/** Every instant at which something begins or ends, ascending, once. */
function cutsOf(claims: readonly Claim[], fromMs: number, toMs: number): number[] {
  const all = [fromMs, toMs];
  for (const claim of claims) all.push(claim.fromMs, claim.toMs);
  all.sort((a, b) => a - b);
  return all.filter((cut, i) => i === 0 || cut !== all[i - 1]);
}

/** The first cause that is true, and how many stretches of the queue say something. */
function holding(active: readonly Claim[]): { readonly first: Claim | null; readonly waits: number } {
  let first: Claim | null = null;
  let waits = 0;
  for (const claim of active) {
    if (first === null || claim.rank < first.rank) first = claim;
    if (claim.wait !== null) waits++;
  }
  return { first, waits };
}

/** About the same, so that it is one stretch; what nothing explains is dispatch. */
function sameClaim(a: Claim | null, b: Claim | null): boolean {
  if (a === b) return true;
  if ((a?.cause ?? "dispatch") !== (b?.cause ?? "dispatch") || (a?.tried ?? null) !== (b?.tried ?? null)) return false;
  const [x, y] = [a?.wait ?? NO_WAIT, b?.wait ?? NO_WAIT];
  return x.rule === y.rule && x.by === y.by && x.device === y.device && x.decision === y.decision;
}

function stretchOf(claim: Claim | null, fromMs: number, toMs: number, facts: LifeFacts): Stretch {
  const { rule, by, device, decision } = claim?.wait ?? NO_WAIT;
  return {
    cause: claim?.cause ?? "dispatch",
    rule,
    by,
    device,
    decision,
    fromMs,
    toMs,
    detail: detailOf(claim, facts),
  };
}

function detailOf(claim: Claim | null, { attempts, loads = [] }: LifeFacts): StretchDetail {
  if (claim?.tried != null) return triedDetail(claim.tried, attempts.indexOf(claim.tried) + 1);
  if (claim?.wait == null) return NOTHING;
  const { cause, decision, device, detail = NOTHING } = claim.wait;
  if (cause !== "loading") return detail;
  const tier = loads.find((load) => load.decision === decision && load.device === device)?.tier;
  return tier == null ? detail : { ...detail, tier };
}

/** @param attempt Counted as they came; those that were charged to nobody count too. */
function triedDetail({ firstByteAtMs, outcome, detail }: Try, attempt: number): StretchDetail {
  return {
    attempt,
    ...(firstByteAtMs === null ? {} : { firstByteAtMs: Math.round(firstByteAtMs) }),
    ...(outcome === null ? {} : { outcome: detail === null ? outcome : `${outcome}: ${detail}` }),
  };
}

/** An attempt that another had to follow is lost; so is the last one of a job that ended in the queue. */
function lastCause(job: Job): Cause {
  const ran = job.state.status === "running" || ("startedAtMs" in job.state && job.state.startedAtMs !== null);
  return ran ? "running" : "lost_attempt";
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
