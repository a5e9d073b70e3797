// A hundred thousand jobs behind it: what operators read goes along indexes and looks at a bounded number of rows. How long
// it may take is held by `npm run test:budgets`.

import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { seedPast } from "../../bench/seed-store.ts";
import type { CallerId, ModelName, OwnerId } from "../../src/domain/ids.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { type DecisionsAlong, decisionsSql } from "../../src/store/sqlite/decision-list.ts";
import { JOBS_OF_IDS } from "../../src/store/sqlite/job-columns.ts";
import {
  type Along,
  bucketSql,
  ENDS_OF_ALL,
  endsSql,
  LAST_WAITS,
  queuedSql,
  rowsSql,
  runningSql,
  WAIT_OF,
} from "../../src/store/sqlite/job-rows-sql.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { oldSpans } from "../../src/store/sqlite/retention.ts";
import { MINUTES, MOVE_TIMES, SPANS } from "../../src/store/sqlite/timeline.ts";
import { END_OPEN, END_SPAN, FORGET_SPAN } from "../../src/store/sqlite/timeline-log.ts";
import type { Store } from "../../src/store/store.ts";

const MODELS = ["chat", "code", "gamma", "delta"];
const DEVICES = ["gpu0", "gpu1"];
const HOUR_MS = 3_600_000;

interface Past {
  readonly store: Store;
  readonly database: Database.Database;
  readonly nowMs: number;
}

async function past(jobs: number): Promise<Past> {
  const database = new Database(":memory:");
  const clock = new VirtualClock();
  const nowMs = clock.nowMs();
  const store = await openSqliteStore({
    ...{ host: { database }, owner: `boot_${"0".repeat(32)}` as OwnerId, clock, ranking: { msPerPoint: 0 } as never },
    ...{ resultTtlMs: 86_400_000, readTtlMs: null, maxStoredBytes: 1e12 },
    onFatal: (error) => {
      throw error;
    },
  });
  seedPast(database, { jobs, decisions: jobs / 4, nowMs, models: MODELS, devices: DEVICES });
  database.exec("ANALYZE");
  return { store, database, nowMs };
}

let large: Past;

beforeAll(async () => {
  large = await past(100_000);
}, 120_000);

/** Of a statement, with every parameter bound to something. */
function planOf(sql: string): string {
  const names = [...new Set([...sql.matchAll(/@(\w+)/g)].map(([, name = ""]) => name))];
  const anonymous = (sql.match(/\?/g) ?? []).length;
  const plan = large.database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const rows =
    anonymous > 0
      ? plan.all(...Array(anonymous).fill(1))
      : plan.all(Object.fromEntries(names.map((name) => [name, 1])));
  return rows.map(({ detail }) => detail).join("; ");
}

describe("query plans of what operators watch", () => {
  test.each<[Along, string]>([
    ["id", "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id>? AND id<?)"],
    ["request", "SEARCH jobs USING INDEX jobs_by_request (client_request_id=? AND id>? AND id<?)"],
    ["bad", "SEARCH jobs USING INDEX jobs_unsuccessful (status=? AND id>? AND id<?)"],
    ["badOfModel", "SEARCH jobs USING INDEX jobs_unsuccessful_of_model (model=? AND status=? AND id>? AND id<?)"],
    ["live", "SEARCH jobs USING INDEX jobs_live (id>? AND id<?)"],
    ["caller", "SEARCH jobs USING INDEX jobs_by_caller (caller=? AND id>? AND id<?)"],
    ["model", "SEARCH jobs USING INDEX jobs_by_model (model=? AND id>? AND id<?)"],
  ])("jobs by %s walk one index and sort nothing", (along, step) => {
    expect(planOf(rowsSql(along, "priority >= 50"))).toBe(step);
    expect(planOf(endsSql(along, "priority >= 50"))).toBe(step);
  });

  test.each([
    [bucketSql("1"), "SEARCH jobs USING COVERING INDEX jobs_by_wait (<expr>=? AND wait_ms>? AND (wait_ms,id)<(?,?))"],
    [
      bucketSql("caller = @caller"),
      "SEARCH jobs USING INDEX jobs_by_wait (<expr>=? AND wait_ms>? AND (wait_ms,id)<(?,?))",
    ],
    [queuedSql("1"), "SEARCH jobs USING INDEX jobs_live (id>? AND id<?)"],
    [runningSql("1"), "SCAN jobs USING INDEX jobs_running; USE TEMP B-TREE FOR ORDER BY"],
    [WAIT_OF, "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"],
    [JOBS_OF_IDS, "SCAN wanted VIRTUAL TABLE INDEX 1:; SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"],
  ])("the longest waits: %s", (sql, plan) => {
    expect(planOf(sql)).toBe(plan);
  });

  test("the first and the last id are found at the ends of an index", () => {
    expect(planOf(ENDS_OF_ALL)).toMatch(/SEARCH jobs USING COVERING INDEX sqlite_autoindex_jobs_1/);
    expect(planOf(ENDS_OF_ALL)).not.toMatch(/SCAN jobs/);
  });

  test.each<[DecisionsAlong, string]>([
    ["all", "SEARCH decisions USING INDEX sqlite_autoindex_decisions_1 (id<?)"],
    ["kind", "SEARCH decisions USING INDEX decisions_by_kind (kind=? AND id<?)"],
    ["reason", "SEARCH decisions USING INDEX decisions_by_reason (reason=? AND id<?)"],
    ["device", "SEARCH decisions USING INDEX decisions_by_device (device=? AND id<?)"],
  ])("decisions by %s walk one index and sort nothing", (along, step) => {
    expect(planOf(decisionsSql(along, "decisions.pool = 1"))).toBe(step);
  });

  test("decisions of a model are driven by its subjects", () => {
    const plan = planOf(decisionsSql("model", "decisions.pool = 1"));

    expect(plan).toMatch(/^SEARCH subjects USING PRIMARY KEY \(kind=\? AND subject=\? AND id<\?\); SEARCH decisions/);
    expect(plan).not.toMatch(/TEMP B-TREE/);
  });

  test.each(
    Object.entries({ SPANS, MOVE_TIMES, MINUTES, LAST_WAITS, END_SPAN, END_OPEN, FORGET_SPAN, OLD: oldSpans(0) }),
  )("%s searches an index, and sorts nothing", (_, sql) => {
    const plan = planOf(sql);

    expect(plan).toMatch(/SEARCH/);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN (spans|decisions|minutes|waits)/);
  });

  test("marks above the lanes are chosen without reading a decision", () => {
    expect(planOf(MOVE_TIMES)).toBe("SEARCH decisions USING COVERING INDEX decisions_moves (at_ms>? AND at_ms<?)");
  });
});

describe("a past of a hundred thousand jobs", () => {
  test("is looked through for rare things only so far, and the page says how far and goes on", async () => {
    const { store, nowMs } = large;
    const rare = { caller: "nobody" as CallerId, model: "code" as ModelName, limit: 50 };
    const common = {
      caller: null,
      model: "code" as ModelName,
      cause: { cause: "router_down", models: [] },
      limit: 50,
    } as const;

    const none = await store.rows.newest(rare);
    const first = await store.rows.newest(common);
    const second = await store.rows.newest({ ...common, ...(first.last === null ? {} : { after: first.last }) });

    expect(none).toMatchObject({ jobs: [], more: false, scannedToMs: null });
    expect(first).toMatchObject({ jobs: [], more: true });
    expect(first.scannedToMs).toBeLessThan(nowMs);
    // The model has a quarter of the jobs: the second look comes to its end.
    expect(second).toMatchObject({ jobs: [], more: false, scannedToMs: null });
  });

  test("never holds up a poll: long looks are made in slices", async () => {
    const { store } = large;
    const job = (await store.rows.newest({ caller: null, limit: 1 })).jobs[0];
    let polls = 0;
    let looking = true;
    const look = store.rows
      .newest({ caller: null, cause: { cause: "router_down", models: [] }, limit: 50 })
      .finally(() => {
        looking = false;
      });
    while (looking) {
      await store.job(job?.id as never);
      polls++;
    }
    await look;

    expect(polls).toBeGreaterThan(20);
  });

  test("shows two hours and a day of devices from a bounded number of rows", async () => {
    const { store, nowMs } = large;

    const hours = await store.timeline.spans({ fromMs: nowMs - 2 * HOUR_MS, toMs: nowMs }, "fine", 5_000);
    const day = await store.timeline.spans({ fromMs: nowMs - 24 * HOUR_MS, toMs: nowMs }, "coarse", 5_000);
    const moves = await store.timeline.moves({ fromMs: nowMs - 24 * HOUR_MS, toMs: nowMs }, 60_000, 300);

    expect(hours.spans.length).toBeGreaterThan(1_000);
    expect(hours.cut).toBe(false);
    expect(day.spans.length).toBeGreaterThan(500);
    expect(moves.length).toBeLessThanOrEqual(300);
    for (const [i, move] of moves.entries()) {
      const before = moves.slice(0, i).findLast(({ device }) => device === move.device);
      expect(move.atMs - (before?.atMs ?? 0)).toBeGreaterThanOrEqual(60_000);
    }
  });
});
