// The jobs' list by wait against the plain way to say it: sort all of the window. On a seeded past with jobs that live.

import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { seedPast } from "../../bench/seed-store.ts";
import { type JobId, jobIdAt, type ModelName, type OwnerId } from "../../src/domain/ids.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { JobRowQuery } from "../../src/store/job-rows.ts";
import { createJobsOfIds } from "../../src/store/sqlite/job-columns.ts";
import { toJob } from "../../src/store/sqlite/job-row.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { JobRow } from "../../src/store/sqlite/schema.ts";
import type { Store } from "../../src/store/store.ts";

const HOUR_MS = 3_600_000;
const database = new Database(":memory:");
const clock = new VirtualClock();
const nowMs = clock.nowMs();
let store: Store;

beforeAll(async () => {
  store = await openSqliteStore({
    ...{ host: { database }, owner: `boot_${"0".repeat(32)}` as OwnerId, clock, ranking: { msPerPoint: 0 } as never },
    ...{ resultTtlMs: 86_400_000, readTtlMs: null, maxStoredBytes: 1e12 },
    onFatal: (error) => {
      throw error;
    },
  });
  const models = ["chat", "code", "gamma", "delta"];
  seedPast(database, { jobs: 3_000, decisions: 10, nowMs, models, devices: ["gpu0"], days: 2 });
  // Some still wait, the oldest from before every window; some run; many ends waited equally long.
  database.exec(`
    UPDATE jobs SET wait_ms = wait_ms / 20000 * 20000;
    UPDATE jobs SET status = 0, finished_ms = NULL, wait_ms = NULL, started_ms = NULL, queue_wait_ms = NULL, parts = NULL,
      cancel_reason = NULL, error_code = NULL WHERE seq % 37 = 1;
    UPDATE jobs SET status = 1, finished_ms = NULL, wait_ms = NULL, owner = 'boot_0', parts = NULL, cancel_reason = NULL,
      error_code = NULL, started_ms = coalesce(started_ms, accepted_ms) WHERE seq % 71 = 2;`);
});

type Asked = Omit<JobRowQuery, "limit"> & { readonly fromMs: number };

/** By reading every row. */
function plainly({ fromMs, toMs = nowMs + 1, model, status, band }: Asked): JobId[] {
  const rows = database.prepare<[], JobRow>("SELECT * FROM jobs").all();
  const ranked = rows.flatMap((row) => {
    const queued = row.status === 0;
    const atMs = Number.parseInt(row.id.slice(4, 16), 16);
    const waitMs = queued ? nowMs - atMs : (row.wait_ms ?? (row.started_ms ?? 0) - row.accepted_ms);
    if (row.id >= jobIdAt(toMs) || (row.status > 1 && row.id < jobIdAt(fromMs))) return [];
    if (model !== undefined && row.model !== model) return [];
    if (status !== undefined && !status.includes(toJob(row).state.status)) return [];
    if (band === "batch" && row.priority > -50) return [];
    return [{ id: row.id, queued, waitMs }];
  });
  const byId = (a: string, b: string): number => (a < b ? -1 : 1);
  ranked.sort(
    (a, b) =>
      b.waitMs - a.waitMs || Number(b.queued) - Number(a.queued) || (a.queued ? byId(a.id, b.id) : byId(b.id, a.id)),
  );
  return ranked.map(({ id }) => id as JobId);
}

async function paged(asked: Asked, limit: number): Promise<JobId[]> {
  const seen: JobId[] = [];
  for (let after: JobId | null = null, more = true; more; ) {
    const page = await store.rows.longest({ ...asked, ...(after === null ? {} : { after }), limit }, nowMs);
    seen.push(...page.jobs.map(({ id }) => id));
    after = page.last;
    more = page.more;
    expect(page.scannedToMs).toBeNull();
  }
  return seen;
}

const ALL = { caller: null } as const;
const ASKED: Readonly<Record<string, Asked>> = {
  "two hours": { ...ALL, fromMs: nowMs - 2 * HOUR_MS },
  "a quarter of an hour within a bucket": {
    ...{ ...ALL, fromMs: nowMs - 20 * HOUR_MS },
    toMs: nowMs - 20 * HOUR_MS + 900_000,
  },
  "all there is": { ...ALL, fromMs: 0 },
  "a model": { ...ALL, fromMs: nowMs - 12 * HOUR_MS, model: "code" as ModelName },
  "a model's failures": { ...ALL, fromMs: 0, model: "code" as ModelName, status: ["failed", "cancelled"] },
  "what succeeded": { ...ALL, fromMs: nowMs - 12 * HOUR_MS, status: ["succeeded"] },
  "what lives": { ...ALL, fromMs: nowMs - HOUR_MS, status: ["queued", "running"] },
  "a band": { ...ALL, fromMs: nowMs - 24 * HOUR_MS, band: "batch" },
};

describe("the list by wait", () => {
  test.each(Object.keys(ASKED))(
    "of %s is that of all rows sorted, page by page, and none is lost or twice",
    async (name) => {
      const asked = ASKED[name] as Asked;

      for (const limit of [1_000, 7]) expect(await paged(asked, limit)).toEqual(plainly(asked));
    },
  );

  test("looks at few rows of a large bucket, and says how far it came when it finds too little", async () => {
    const none = { ...ALL, fromMs: 0, cause: { cause: "router_down", models: [] }, limit: 50 } as const;

    const whole = await store.rows.longest(none, nowMs);

    expect(whole).toMatchObject({ jobs: [], more: false, last: null, scannedToMs: null });
  });
});

test("jobs read as arrays are the jobs that rows as objects make", () => {
  const rows = database.prepare<[], JobRow>("SELECT * FROM jobs WHERE seq % 10 < 3 ORDER BY id DESC").all();

  const read = createJobsOfIds(database)([...rows.map(({ id }) => id), "job_none"]);

  expect(read).toEqual(rows.map(toJob));
});
