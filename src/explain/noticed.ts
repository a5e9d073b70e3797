// What parts say beyond their stretches: how much of a run was waiting for the answer's first byte, and how many jobs of its
// own model went first. Nothing is said that was not seen.

import { isFinal, type Job, type Noticed } from "../domain/job.ts";
import type { Part, Stretch, StretchDetail } from "../domain/life.ts";

/** @param noticed Of a live job; null: nobody can say. */
export function withNoticed(
  parts: readonly Part[],
  stretches: readonly Stretch[],
  job: Job,
  noticed: Noticed | null,
): Part[] {
  const wentFirst = job.spent?.wentFirst ?? (job.spent === null ? noticed?.wentFirst : null) ?? null;
  return parts.map((part) => {
    const answer = part.cause === "running" && job.stream ? answerOf(stretches, job, noticed) : null;
    if (answer !== null) return { ...part, detail: { ...part.detail, answer } };
    if (part.cause === "own_queue" && wentFirst !== null) return { ...part, detail: { ...part.detail, wentFirst } };
    return part;
  });
}

type Answer = NonNullable<StretchDetail["answer"]>;

/** Of all that ran, to the ms; null: of some of it nobody knows. A body that comes in one piece says nothing of tokens. */
function answerOf(stretches: readonly Stretch[], job: Job, noticed: Noticed | null): Answer | null {
  const runs = stretches.filter(({ cause }) => cause === "running");
  const sum = { firstTokenMs: 0, generatingMs: 0, begun: true };
  for (const { detail, fromMs, toMs } of runs) {
    const live = !isFinal(job.state.status) && noticed !== null;
    const seenMs = detail.firstByteAtMs ?? (live ? (noticed.firstByteAtMs ?? Number.POSITIVE_INFINITY) : null);
    if (seenMs === null) return null;
    const beganMs = Math.min(toMs, Math.max(fromMs, Math.round(seenMs)));
    sum.firstTokenMs += beganMs - fromMs;
    sum.generatingMs += toMs - beganMs;
    sum.begun = Number.isFinite(seenMs);
  }
  return runs.length === 0 ? null : sum;
}
