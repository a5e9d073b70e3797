// A query that reads every row is right in each test and wrong in production, so the plans themselves are tested.

import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { BY_KEY } from "../../src/store/sqlite/accept.ts";
import {
  LIVE_OF_BATCH,
  listBatchesSql,
  NEXT_LINES,
  OPEN_BATCHES,
  OUTCOMES,
  WAITING_LINES,
} from "../../src/store/sqlite/batch-reads.ts";
import { OPEN_OF_CALLER, UNSWEPT } from "../../src/store/sqlite/batches.ts";
import { END } from "../../src/store/sqlite/ending.ts";
import { DELETED_FILES, EXPIRED_FILES, listFilesSql } from "../../src/store/sqlite/files.ts";
import { JOBS, MOVES, PAST_JOBS, PAST_LOADS, SHADOWS } from "../../src/store/sqlite/history.ts";
import { NOTE_LOOKS } from "../../src/store/sqlite/journal.ts";
import { KEEP } from "../../src/store/sqlite/keep.ts";
import { sliceSql } from "../../src/store/sqlite/listing.ts";
import { DECISIONS_OF, LOADS_OF } from "../../src/store/sqlite/model-log.ts";
import { DUE, EVICTABLE } from "../../src/store/sqlite/purger.ts";
import { EVENTS, LIVE, LOADS, REPEATS, WAITS } from "../../src/store/sqlite/reads.ts";
import { DEAD_OWNERS, HOMELESS, OWNED, RERANKED } from "../../src/store/sqlite/recovery.ts";
import { OLD_DECISIONS, OLD_PAST_JOBS, OLD_TOMBSTONES } from "../../src/store/sqlite/retention.ts";
import { CLAIM, FINISH, REQUEUE } from "../../src/store/sqlite/running.ts";
import { ATTEMPTS_OF, SPEND, WAITED } from "../../src/store/sqlite/spending.ts";
import { added, finished, openInMemory } from "./given.ts";

const database = new Database(":memory:");

beforeAll(async () => {
  const { store, owner } = await openInMemory({ database });
  for (let i = 0; i < 300; i++) await (i % 3 === 0 ? finished(store, owner) : added(store));
  // Statistics are what makes a planner change its mind.
  database.exec("ANALYZE");
});

const QUERIES: Readonly<Record<string, string>> = {
  ...{ LIVE_OF_BATCH, NEXT_LINES, OPEN_BATCHES, OPEN_OF_CALLER, OUTCOMES, UNSWEPT, WAITING_LINES },
  ...{ BY_KEY, CLAIM, DEAD_OWNERS, DUE, END, EVENTS, EVICTABLE, FINISH, HOMELESS, KEEP, LIVE, REPEATS },
  ...{ ATTEMPTS_OF, DECISIONS_OF, LOADS_OF, NOTE_LOOKS, SPEND, WAITED },
  ...{ JOBS, MOVES, OLD_PAST_JOBS, PAST_JOBS, PAST_LOADS, SHADOWS },
  ...{ DELETED_FILES, EXPIRED_FILES, OLD_DECISIONS, OLD_TOMBSTONES, OWNED, REQUEUE, RERANKED, WAITS },
};

function planOf(sql: string): string[] {
  const plan = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const count = (sql.match(/\?/g) ?? []).length;
  const named = { self: "", model: "", fromMs: 0, toMs: 0, seq: 0, after: "", end: "", limit: 1 };
  return (count > 0 ? plan.all(...Array<number>(count).fill(0)) : plan.all(named)).map((row) => row.detail);
}

describe("query plans", () => {
  test.each(Object.keys(QUERIES))("%s searches an index, and sorts nothing", (name) => {
    const plan = planOf(QUERIES[name] ?? "");

    expect(plan.length).toBeGreaterThan(0);
    for (const step of plan) {
      // A partial index may be read in its own order from its beginning: it holds only the rows asked for.
      if (/^SCAN jobs USING (COVERING )?INDEX jobs_(evictable|running|volatile)/.test(step)) continue;
      expect(step).not.toMatch(
        /^SCAN (jobs|past_jobs|job_events|waits|decisions|loads|shadows|files(?! USING (COVERING )?INDEX files_deleted))/,
      );
      expect(step).not.toMatch(/TEMP B-TREE FOR (ORDER BY|LAST)/);
    }
  });

  test.each([
    ["caller", "newest", "SEARCH jobs USING INDEX jobs_by_caller (caller=? AND id<?)"],
    ["caller", "oldest", "SEARCH jobs USING INDEX jobs_by_caller (caller=? AND id>?)"],
    ["live", "newest", "SEARCH jobs USING INDEX jobs_live (id<?)"],
    ["all", "newest", "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id<?)"],
  ] as const)("a list of %s jobs, %s first, walks one index", (along, order, step) => {
    const plan = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sliceSql(along, order, true)}`);

    expect(plan.all({ caller: "", after: "", rows: 1 }).map((row) => row.detail)).toEqual([step]);
  });

  test("the newest loads of each model are found along one index, however many there were; only those few are sorted", () => {
    expect(planOf(LOADS).filter((step) => /\b(loads|each)\b/.test(step))).toEqual([
      "SEARCH loads USING COVERING INDEX loads_by_model",
      "SEARCH loads USING COVERING INDEX loads_by_model (model>?)",
      "SEARCH loads USING INDEX loads_by_model (model=? AND seq=?)",
      "SEARCH each USING COVERING INDEX loads_by_model (model=?)",
    ]);
  });

  test.each([
    [listBatchesSql(true), "SEARCH batches USING INDEX batches_by_caller (caller=? AND id<?)"],
    [listFilesSql("newest", true), "SEARCH files USING INDEX files_by_caller (caller=? AND id<?)"],
    [listFilesSql("oldest", true), "SEARCH files USING INDEX files_by_caller (caller=? AND id>?)"],
  ])("a list of batches or files walks one index: %s", (sql, step) => {
    const plan = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);

    expect(plan.all({ caller: "", after: "", purpose: null, atMs: 0, rows: 1 }).map((row) => row.detail)).toEqual([
      step,
    ]);
  });
});
