// Jobs read as arrays of the columns that a job is made of. A list reads fifty at a time, and as objects of all columns
// they cost three times as much.

import type { Database } from "better-sqlite3";
import type { Job } from "../../domain/job.ts";
import { toJob } from "./job-row.ts";
import type { JobRow } from "./schema.ts";

const COLUMNS = [
  ...["id", "pool", "caller", "model", "endpoint", "status", "priority", "rank", "stream", "origin", "durable"],
  ...["created_wall_ms", "accepted_ms", "lease_ms", "deadline_ms", "epoch", "attempts", "interruptions"],
  ...["run_after_ms", "owner", "instance", "started_ms", "finished_ms", "cancel_reason", "error_code"],
  ...["error_message", "decision", "score", "queue_wait_ms", "reorder", "traceparent", "client_request_id"],
  ...["metadata", "read_ms", "purged_ms", "purge_after_ms", "wait_ms", "run_ms", "top_cause", "parts"],
] as const;

export const JOBS_OF_IDS = `
  SELECT ${COLUMNS.map((name) => `jobs.${name}`).join(", ")}
  FROM json_each(?) AS wanted CROSS JOIN jobs ON jobs.id = wanted.value`;

/** A row as its values, read by its columns' names. */
class Row {
  readonly values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

for (const [i, name] of COLUMNS.entries()) {
  Object.defineProperty(Row.prototype, name, {
    get(this: Row) {
      return this.values[i];
    },
  });
}

/** @returns The jobs in the order of `ids`; what is not there is left out. */
export function createJobsOfIds(db: Database): (ids: readonly string[]) => Job[] {
  const statement = db.prepare<[string], unknown[]>(JOBS_OF_IDS).raw();
  return (ids) => {
    const rows = statement.all(JSON.stringify(ids)) as unknown as unknown[][];
    const jobs = new Map(rows.map((values) => [values[0] as string, toJob(new Row(values) as unknown as JobRow)]));
    return ids.flatMap((id) => jobs.get(id) ?? []);
  };
}
