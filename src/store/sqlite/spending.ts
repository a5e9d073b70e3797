// Where a job's time went, summed up in the transaction that ends it, from what that transaction can see: its attempts,
// the stretches of its model's queue, the gaps between routers. The same cut as an explanation's, so both say the same.

import type { Database } from "better-sqlite3";
import type { ModelName } from "../../domain/ids.ts";
import type { WentFirst } from "../../domain/job.ts";
import { spentOf, splitLife } from "../../domain/partition.ts";
import type { QueueCause, Wait } from "../../domain/wait.ts";
import { toJob } from "./job-row.ts";
import { DOWNTIMES, type Gap, toAttempt, WAITS } from "./reads.ts";
import type { AttemptRow, JobRow } from "./schema.ts";

export const ATTEMPTS_OF = "SELECT * FROM attempts WHERE job = ? ORDER BY epoch";
/** Of `WAITS` what sums are made of. */
export const WAITED = WAITS.replace("SELECT *", "SELECT cause, from_ms, to_ms");
export const SPEND = "UPDATE jobs SET wait_ms = ?, run_ms = ?, top_cause = ?, parts = ? WHERE seq = ?";

/** Fills these columns of a row that has just become final, and stores them. */
export function createSpending(db: Database): (row: JobRow, wentFirst: WentFirst | null) => void {
  const attempts = db.prepare<[number], AttemptRow>(ATTEMPTS_OF);
  const waits = db.prepare<[Gap & { model: string }], [QueueCause, number, number | null]>(WAITED).raw();
  const spend = db.prepare(SPEND);
  // Gaps come into being at a start only: those before this one are all there are.
  const gaps = db.prepare<[Gap], Gap>(DOWNTIMES).all({ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });

  return (row, wentFirst) => {
    const { accepted_ms: fromMs, finished_ms: toMs, model } = row;
    if (toMs === null) return;
    const { waitMs, runMs, topCause, parts } = spentOf(
      splitLife({
        job: toJob(row),
        nowMs: toMs,
        attempts: attempts.all(row.seq).map(toAttempt),
        waits: waits.all({ model, fromMs, toMs }).map(([cause, from, to]) => waited(model, cause, from, to)),
        downtimes: gaps.filter((gap) => gap.toMs > fromMs),
      }),
    );
    row.wait_ms = waitMs;
    row.run_ms = runMs;
    row.top_cause = topCause;
    // What went first says something only of a wait for a slot.
    const counts = wentFirst === null ? [] : [wentFirst.jobs, wentFirst.higher];
    const kept = parts.map(({ cause, ms }) => [cause, ms, ...(cause === "own_queue" ? counts : [])]);
    row.parts = JSON.stringify(kept);
    spend.run(row.wait_ms, row.run_ms, row.top_cause, row.parts, row.seq);
  };
}

function waited(model: string, cause: QueueCause, fromMs: number, toMs: number | null): Wait {
  return { model: model as ModelName, cause, rule: null, by: null, device: null, decision: null, fromMs, toMs };
}
