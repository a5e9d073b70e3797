// A plain synchronous request that outlives its socket: its row becomes durable and its body is stored, in one transaction.

import type { Database } from "better-sqlite3";
import type { Job } from "../../domain/job.ts";
import type { Keep } from "../store.ts";
import { bodyColumns, hex, INSERT_BODY, type Value } from "./accept.ts";
import { type Stamp, toJob } from "./job-row.ts";
import type { Ledger } from "./ledger.ts";
import type { Purger } from "./purger.ts";
import type { JobRow } from "./schema.ts";

export const KEEP = `
  UPDATE jobs SET durable = 1, repeat = unhex(?) WHERE id = ? AND durable = 0 AND status < 2 AND epoch = ? RETURNING *`;

/** In the order of the columns, as an arrival is. */
export interface Kept {
  readonly id: string;
  readonly epoch: number;
  readonly repeat: string | null;
  readonly body: readonly Value[];
  readonly sizeBytes: number;
}

export interface Keeping {
  keep(at: Stamp, kept: Kept): Job | null;
}

export function createKeeping(db: Database, purger: Purger, ledger: Ledger): Keeping {
  const update = db.prepare<[string | null, string, number], JobRow>(KEEP);
  const insertBody = db.prepare(INSERT_BODY);
  return {
    keep(at, { id, epoch, repeat, body, sizeBytes }) {
      if (!purger.makeRoom(at.atMs, sizeBytes)) return null;
      const row = update.get(repeat, id, epoch);
      if (row === undefined) return null;
      insertBody.run(row.seq, ...body);
      ledger.bytesBy(sizeBytes);
      return toJob(row);
    },
  };
}

export function keptOf({ id, epoch, body, repeat }: Keep): Kept {
  return {
    id,
    epoch,
    repeat: repeat === null ? null : hex(repeat),
    body: bodyColumns(body),
    sizeBytes: body.sizeBytes,
  };
}
