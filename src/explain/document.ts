// The document that page, API and command line all show: a job's life in parts and stretches, the decisions that passed it
// over, the sentence on top, what is expected. Pure; instants leave it as wall clock, as it was when the job was accepted.

import type { ExplainingDecisionWire, ExplanationWire, PartWire, StretchWire } from "../client/wire-explain.ts";
import type { Decision, Scored } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import { isFinal, type Job, type JobStatus, type Noticed, type Spent } from "../domain/job.ts";
import type { LabelOf, Life, Part, PartWords, Split, Stretch } from "../domain/life.ts";
import { partsOf, spentOf } from "../domain/partition.ts";
import type { Place } from "../engine/control.ts";
import { partWords } from "./causes.ts";
import { expectationOf } from "./expectation.ts";
import { mergeSmall } from "./merge.ts";
import { withNoticed } from "./noticed.ts";
import { summaryOf } from "./summary.ts";

/** How an explanation is told, and to whom. */
export interface Telling {
  /** Router time. */
  readonly nowMs: number;
  readonly label: LabelOf;
  /** Where it stands in the queue now; null: it is in none, or nobody can say. */
  readonly place: Place | null;
  /** Decisions in force as they are known now, ahead of what is stored of them. Absent: none. */
  readonly inForce?: readonly Decision[];
  /** Of a live job, what is not stored yet. Absent or null: nobody can say. */
  readonly noticed?: Noticed | null;
  /** False: who paused what is not said, since the asker may not know other callers. */
  readonly observes: boolean;
}

/** As it goes out, but for the word of its status, which is the domain's: HTTP has the wire's. */
export type Explanation = Omit<ExplanationWire, "status"> & { readonly status: JobStatus };

export interface Explained extends Telling {
  readonly job: Job;
  readonly split: Split;
  /** Oldest first. */
  readonly decisions: readonly Decision[];
}

/** Queued for longer than so much without a record of why: the records have gone. */
const UNEXPLAINED_MAX_MS = 1_000;

export function explainJob(explained: Explained): Explanation {
  const { job, split, decisions, label, place, nowMs } = explained;
  const { spent } = job;
  const cut = spentOf(split);
  const partial = spent === null ? split.unexplainedMs > UNEXPLAINED_MAX_MS : !sameSpent(spent, cut);
  const whole = partial && spent !== null ? keptLife(job, split, spent) : cutLife(explained);
  const life = { ...whole, parts: withNoticed(whole.parts, whole.stretches, job, explained.noticed ?? null) };
  const { text, code, try: tryLine } = summaryOf(life, label);
  const offsetMs = job.createdAtMs - Math.round(job.acceptedAtMs);
  const { stretches, merged } = mergeSmall(life.stretches);
  const policy = decisions.at(-1)?.policy ?? null;
  return {
    ...{ object: "job.explanation", job: job.id, model: job.model, label: label(job.model) },
    ...{ status: job.state.status, final: life.final, partial },
    from_ms: split.fromMs + offsetMs,
    to_ms: split.toMs + offsetMs,
    ...{ total_ms: life.totalMs, wait_ms: life.waitMs, run_ms: life.runMs },
    ...{ summary: text, summary_code: code },
    parts: life.parts.map((part) => partWire(part, life.totalMs, offsetMs, wordsOf(part, job, label, policy))),
    stretches: stretches.map((stretch) => stretchWire(stretch, offsetMs)),
    merged,
    decisions: decisions.map((decision) => decisionWire(decision, job.model, offsetMs)),
    expected: place === null ? null : expectationOf(place, nowMs, nowMs + offsetMs),
    try: tryLine,
  };
}

function cutLife({ job, split, decisions, observes }: Explained): Life {
  const { runMs, waitMs } = spentOf(split);
  const stretches = observes ? split.stretches : split.stretches.map(withoutNames);
  return {
    ...{ job, final: isFinal(job.state.status), stretches, parts: partsOf(stretches) },
    ...{ totalMs: split.totalMs, waitMs, runMs },
    decisions: decisions.map((decision) => ({ decision, ...looksOf(decision) })),
    moved: movedBy(split, decisions),
  };
}

/** What would have kept a job that nobody polled is no setting of the queue. */
const LAPSE_LEVERS = ["polling it in time", "a longer `SIR-Lease`", "jobs.leaseSeconds"] as const;

function wordsOf(part: Part, { state }: Job, label: LabelOf, policy: string | null): PartWords {
  const words = partWords(part, label, policy);
  const lapsed = state.status === "cancelled" && state.reason === "lease_expired";
  return lapsed ? { ...words, levers: LAPSE_LEVERS } : words;
}

/** Who asked for it may be another caller. */
function withoutNames(stretch: Stretch): Stretch {
  const { detail } = stretch;
  return detail.who === undefined ? stretch : { ...stretch, detail: { ...detail, who: null } };
}

/** What was summed up at its end, where the records do not say the same any more. */
function keptLife(job: Job, { totalMs, fromMs, toMs }: Split, { parts, waitMs, runMs }: Spent): Life {
  const none = { rule: null, by: null, device: null, decision: null, detail: {} };
  return {
    ...{ job, final: true, totalMs, waitMs, runMs, stretches: [], decisions: [], moved: null },
    parts: parts.map(({ cause, ms }) => ({ cause, ...none, ms, stretches: 1, fromMs, toMs })),
  };
}

function sameSpent(kept: Spent, cut: Spent): boolean {
  const of = ({ parts }: Spent): string => JSON.stringify(parts.map(({ cause, ms }) => [cause, ms]));
  return of(kept) === of(cut);
}

/** The decision that brought its model after the longest time that it was held. */
function movedBy({ stretches }: Split, decisions: readonly Decision[]): Decision | null {
  const held = partsOf(stretches.filter(({ cause }) => cause === "held")).reduce<Part | null>(
    (most, part) => (most === null || part.ms > most.ms ? part : most),
    null,
  );
  if (held === null) return null;
  const then = stretches.find(({ cause, fromMs }) => fromMs >= held.toMs && MOVING.some((each) => each === cause));
  return decisions.find(({ id }) => id === then?.decision) ?? null;
}

const MOVING = ["draining", "unloading", "loading"] as const;

function looksOf({ atMs, looks }: Decision): { times: number; lastAtMs: number } {
  return { times: looks?.times ?? 1, lastAtMs: looks?.lastAtMs ?? atMs };
}

function partWire(part: Part, totalMs: number, offsetMs: number, words: Pick<PartWire, "title" | "text" | "levers">) {
  const { cause, rule, by, device, decision, ms, stretches, fromMs, toMs } = part;
  const { answer, wentFirst } = part.detail;
  return {
    ...{ cause, rule, by, device, decision, ms, share: totalMs === 0 ? 0 : ms / totalMs, stretches },
    ...{ from_ms: fromMs + offsetMs, to_ms: toMs + offsetMs, ...words },
    ...{ first_token_ms: answer?.firstTokenMs ?? null, generating_ms: answer?.generatingMs ?? null },
    ...{ went_first: wentFirst?.jobs ?? null, went_first_higher: wentFirst?.higher ?? null },
  } satisfies PartWire;
}

function stretchWire({ cause, rule, by, device, decision, fromMs, toMs }: Stretch, offsetMs: number): StretchWire {
  return { cause, rule, by, device, decision, from_ms: fromMs + offsetMs, to_ms: toMs + offsetMs };
}

function decisionWire(decision: Decision, model: ModelName, offsetMs: number): ExplainingDecisionWire {
  const { id, atMs, kind, reason, device, sentence, models, looks } = decision;
  const own = models.find((each) => each.model === model);
  const winner = winnerOf(decision);
  const wall = (ms: number): number => Math.round(ms) + offsetMs;
  const { times, lastAtMs } = looksOf(decision);
  return {
    ...{ id, at_ms: wall(atMs), last_at_ms: wall(lastAtMs), times, kind, reason, device, sentence },
    own: own === undefined ? null : ownWire(own),
    winner: winner === null ? null : { model: winner, score: scoreOf(decision, winner) },
    trail: (looks?.trail ?? []).map(({ atMs: at, scores }) => [
      wall(at),
      scores[model] ?? null,
      winner === null ? null : (scores[winner] ?? null),
    ]),
  };
}

function ownWire({ score, depth, oldestWaitMs }: Scored): NonNullable<ExplainingDecisionWire["own"]> {
  return { score, depth, oldest_seconds: Math.round(oldestWaitMs) / 1_000 };
}

/** Who comes, or of those that stay the one with the highest score. */
function winnerOf(decision: Decision): ModelName | null {
  if (decision.load !== null) return decision.load;
  const value = (model: ModelName): number => scoreOf(decision, model) ?? Number.NEGATIVE_INFINITY;
  return decision.resident.reduce<ModelName | null>(
    (best, { model }) => (best === null || value(model) > value(best) ? model : best),
    null,
  );
}

function scoreOf({ models }: Decision, model: ModelName): number | null {
  return models.find((each) => each.model === model)?.score ?? null;
}
