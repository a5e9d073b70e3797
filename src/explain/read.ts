// Reads what an explanation is made from, from a store that is open or from a file whose router is gone, and bounds it:
// whatever happened, an explanation costs some ms.

import type { Decision } from "../domain/decision.ts";
import type { DecisionId, JobId, ModelName } from "../domain/ids.ts";
import { isFinal, type Job } from "../domain/job.ts";
import type { Span, Split } from "../domain/life.ts";
import { endOf, splitLife } from "../domain/partition.ts";
import type { Wait } from "../domain/wait.ts";
import type { DecisionSketch, ModelLog } from "../store/model-log.ts";
import type { Attempt } from "../store/store.ts";
import { type Explanation, explainJob, type Telling } from "./document.ts";

/** What a store, or its file, is asked for. Instants are router time. */
export interface ExplainReader {
  job(id: JobId): Promise<Job | null>;
  attempts(id: JobId): Promise<readonly Attempt[]>;
  waits(model: ModelName, fromMs: number, toMs: number): Promise<readonly Wait[]>;
  downtimes(fromMs: number, toMs: number): Promise<readonly Span[]>;
  readonly about: ModelLog;
  decision(id: DecisionId): Promise<Decision | null>;
}

const LOADS_MAX = 1_000;
/** A load that a job did not live to see the end of still says what kind it was. */
const LOAD_AFTER_MS = 600_000;
const SKETCHES_MAX = 2_000;
/** Decisions in an explanation. */
export const DECISIONS_MAX = 50;

/** Null: there is no such job. */
export async function readExplanation(reader: ExplainReader, id: JobId, telling: Telling): Promise<Explanation | null> {
  const job = await reader.job(id);
  if (job === null) return null;
  const { nowMs } = telling;
  const { model, acceptedAtMs } = job;
  const toMs = endOf(job, nowMs);
  const facts = {
    ...{ job, nowMs },
    attempts: await reader.attempts(id),
    waits: await reader.waits(model, acceptedAtMs, toMs),
    downtimes: await reader.downtimes(acceptedAtMs, toMs),
    loads: await reader.about.loads(model, acceptedAtMs, toMs + LOAD_AFTER_MS, LOADS_MAX),
  };
  const split = splitLife(facts);
  const sketches = await reader.about.decisions(model, acceptedAtMs, toMs, SKETCHES_MAX);
  const decisions: Decision[] = [];
  for (const each of mostTelling(split, sketches)) {
    const decision = telling.inForce?.find(({ id }) => id === each) ?? (await reader.decision(each));
    if (decision !== null) decisions.push(decision);
  }
  decisions.sort((a, b) => a.atMs - b.atMs);
  const place = isFinal(job.state.status) ? null : telling.place;
  return explainJob({ job, split, decisions, ...telling, place });
}

/** First what the stretches name, the longest first; then the ends, moves and changes of reason. */
function mostTelling(split: Split, sketches: readonly DecisionSketch[]): Set<DecisionId> {
  const named = new Map<DecisionId, number>();
  for (const { decision, fromMs, toMs } of split.stretches) {
    if (decision !== null) named.set(decision, (named.get(decision) ?? 0) + toMs - fromMs);
  }
  const byLength = [...named].sort(([, a], [, b]) => b - a).map(([id]) => id);
  const oldestFirst = sketches.toReversed();
  const moves = oldestFirst.filter(({ kind }) => kind !== "hold" && kind !== "idle");
  const turns = oldestFirst.filter((each, i) => oldestFirst[i - 1]?.reason !== each.reason);
  const ends = [oldestFirst[0], oldestFirst.at(-1)].flatMap((each) => (each === undefined ? [] : [each.id]));
  // Half for what held it, so that a life of many holds still shows its moves.
  const chosen = new Set<DecisionId>(byLength.slice(0, DECISIONS_MAX / 2));
  for (const id of [...ends, ...moves.map(({ id }) => id), ...turns.map(({ id }) => id), ...byLength]) {
    if (chosen.size >= DECISIONS_MAX) break;
    chosen.add(id);
  }
  return chosen;
}
