// What a dead router leaves behind: claims without an owner, and synchronous requests without a socket.

import type { Database } from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";
import { type Ranking, rankOf } from "../../domain/ranking.ts";
import type { Authority, Recovery } from "../store.ts";
import type { CoreSettings } from "./core.ts";
import type { Ending } from "./ending.ts";
import type { Stamp } from "./job-row.ts";
import type { JobRow } from "./schema.ts";

export const DEAD_OWNERS = `
  SELECT owner FROM jobs INDEXED BY jobs_running WHERE status = 1 AND owner <> @self
  UNION SELECT home FROM jobs INDEXED BY jobs_volatile WHERE durable = 0 AND status < 2 AND home <> @self`;
export const OWNED = "SELECT * FROM jobs INDEXED BY jobs_running WHERE status = 1 AND owner = ? ORDER BY seq";
export const HOMELESS = `
  SELECT * FROM jobs INDEXED BY jobs_volatile WHERE durable = 0 AND status < 2 AND home = ? ORDER BY seq`;
const GIVE_BACK = `
  UPDATE jobs SET status = 0, epoch = epoch + 1, owner = NULL, instance = NULL, started_ms = NULL, run_after_ms = 0,
    attempts = attempts - 1, interruptions = interruptions + 1
  WHERE seq = ? AND status = 1`;
const COUNT_LAST = "UPDATE jobs SET attempts = attempts - 1, interruptions = interruptions + 1 WHERE seq = ?";
const END_ATTEMPT = `
  UPDATE attempts SET ended_ms = ?, outcome = 'interrupted', detail = 'the router stopped'
  WHERE job = ? AND epoch = ? AND ended_ms IS NULL`;
const INSERT_EVENT = "INSERT INTO job_events (job, n, at_ms, type) VALUES (?, ?, ?, 'requeued')";
export const RERANKED = `
  SELECT seq, id, accepted_ms, priority, rank FROM jobs INDEXED BY jobs_live WHERE status < 2 AND id > ? ORDER BY id LIMIT 1000`;
const RERANK = "UPDATE jobs SET rank = @rank WHERE seq = @seq";

export interface Recovering {
  recover(at: Stamp, authority: Authority, dead: readonly OwnerId[], maxInterruptions: number): Recovery;
  /** One page of live jobs; returns where the next one begins, null at the end. */
  rerank(at: Stamp, ranking: Ranking, after: string): string | null;
}

export function createRecovering(db: Database, settings: CoreSettings, ending: Ending): Recovering {
  const owned = db.prepare<[string], JobRow>(OWNED);
  const homeless = db.prepare<[string], JobRow>(HOMELESS);
  const giveBack = db.prepare(GIVE_BACK);
  const countLast = db.prepare(COUNT_LAST);
  const endAttempt = db.prepare(END_ATTEMPT);
  const insertEvent = db.prepare(INSERT_EVENT);
  const reranked = db.prepare<[string], Pick<JobRow, "seq" | "id" | "accepted_ms" | "priority" | "rank">>(RERANKED);
  const rerank = db.prepare(RERANK);

  return {
    recover(at, authority, dead, maxInterruptions) {
      const found = { requeued: 0, poisoned: 0, dropped: 0 };
      for (const owner of dead) {
        if (owner === authority.owner || owner === settings.owner) continue;
        for (const row of homeless.all(owner)) {
          ending.endRow(at, row, { type: "cancel", reason: "disconnect" });
          found.dropped++;
        }
        for (const row of owned.all(owner)) {
          endAttempt.run(at.atMs, row.seq, row.epoch);
          const interruptions = row.interruptions + 1;
          if (interruptions >= maxInterruptions) {
            const message = `interrupted ${interruptions} times, each time by the end of its router or engine`;
            ending.endRow(at, row, { type: "fail", error: { code: "poison", message } });
            countLast.run(row.seq);
            found.poisoned++;
          } else {
            giveBack.run(row.seq);
            insertEvent.run(row.seq, (row.epoch + 1) * 2, at.atMs);
            found.requeued++;
          }
        }
      }
      return found;
    },
    rerank(_at, ranking, after) {
      const rows = reranked.all(after);
      for (const row of rows) {
        const rank = rankOf(ranking, { acceptedAtMs: row.accepted_ms, priority: row.priority });
        if (rank !== row.rank) rerank.run({ rank, seq: row.seq });
      }
      return rows.at(-1)?.id ?? null;
    },
  };
}
