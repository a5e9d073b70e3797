// What an explanation costs: to read one from a store with a large past, and to sum one up at a job's end.
// SIR_BENCH_JOBS says how large (100,000).

import { join } from "node:path";
import Database from "better-sqlite3";
import { DEFAULT_POOL, type InstanceId, type JobId, type ModelName, type OwnerId } from "../src/domain/ids.ts";
import type { QueueCause } from "../src/domain/wait.ts";
import { readExplanation } from "../src/explain/read.ts";
import { VirtualClock } from "../src/simulator/virtual-clock.ts";
import { prepareWriter } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS, openSqliteStore } from "../src/store/sqlite/open.ts";
import type { JobRow } from "../src/store/sqlite/schema.ts";
import { createSpending } from "../src/store/sqlite/spending.ts";
import { openStoreFile } from "../src/store/sqlite/store-file.ts";
import type { Bench, Figure } from "./figure.ts";
import { seedPast } from "./seed-store.ts";
import { spreadOf } from "./statistics.ts";
import { newJob } from "./store.ts";

const JOBS = Number(process.env["SIR_BENCH_JOBS"] ?? 100_000);
const READS = 400;
const WARM_UP = 100;
const ENDS = 2_000;
/** Changes of cause while each of them waits. */
const STRETCHES = 10;
const MODEL = "bench" as ModelName;

export const explainBench: Bench = {
  name: "explain",
  title: `Explanations of ${READS} jobs among ${JOBS}, and what summing up adds to ${ENDS} ends`,
  async run({ folder, progress }) {
    progress("a past is made");
    const path = join(folder, "sir.db");
    const db = new Database(path);
    prepareWriter(db, "OFF");
    migrate(db, MIGRATIONS);
    const size = { jobs: JOBS, decisions: JOBS / 4, nowMs: Date.now() };
    seedPast(db, { ...size, models: ["chat", "code", "gamma", "delta"], devices: ["gpu0", "gpu1"] });
    const ids = db.prepare<[number], JobId>("SELECT id FROM jobs ORDER BY random() LIMIT ?").pluck().all(READS);
    db.close();
    progress("explanations are read");
    return [...(await reads(path, ids)), await ends()];
  },
};

async function reads(path: string, ids: readonly JobId[]): Promise<readonly Figure[]> {
  const file = openStoreFile(path);
  const telling = { nowMs: Date.now(), label: (model: ModelName) => model, place: null, observes: true };
  const tookMs: number[] = [];
  const usedMs: number[] = [];
  const read = async (id: JobId): Promise<void> => void (await readExplanation(file, id, telling));
  try {
    for (const id of ids.slice(0, WARM_UP)) await read(id);
    for (const id of ids.slice(WARM_UP)) {
      const began = performance.now();
      usedMs.push(await cpuMs(() => read(id)));
      tookMs.push(performance.now() - began);
    }
  } finally {
    file.close();
  }
  const [used, took] = [spreadOf(usedMs), spreadOf(tookMs)];
  const note = "CPU time; the disk's and the machine's other work apart";
  return [
    { name: "one explanation, p50", value: used.p50, unit: "ms", bar: { rule: "below", value: 5 }, note },
    { name: "one explanation, p99", value: used.p99, unit: "ms", bar: { rule: "below", value: 20 } },
    { name: "the same by the clock, p50", value: took.p50, unit: "ms" },
    { name: "the same by the clock, p99", value: took.p99, unit: "ms" },
  ];
}

/** CPU time, because a machine's load wanders more than the difference. */
async function ends(): Promise<Figure> {
  const database = new Database(":memory:");
  const clock = new VirtualClock();
  const owner = "boot_bench" as OwnerId;
  const store = await openSqliteStore({
    ...{ host: { database }, owner, clock, ranking: { kind: "aging", msPerPoint: 60_000 } },
    ...{ resultTtlMs: 86_400_000, readTtlMs: null, maxStoredBytes: 2 ** 30 },
    onFatal(error) {
      throw error;
    },
  });
  const ids = Array.from({ length: ENDS }, (_, i) => `job_${String(i).padStart(32, "0")}` as JobId);
  for (const id of ids) await store.add(newJob(id, new Uint8Array(8), new Uint8Array(32)));
  for (let i = 0; i < STRETCHES; i++) {
    await clock.runUntil(clock.nowMs() + 1_000);
    const cause: QueueCause = i % 2 === 0 ? "held" : "loading";
    const about = { rule: null, by: null, device: null, decision: null, fromMs: clock.nowMs(), toMs: null };
    store.append([{ type: "wait.open", wait: { model: MODEL, cause, ...about } }]);
  }
  const instance = "ins_bench" as InstanceId;
  const dispatch = { decision: null, score: null, queueWaitMs: 0, reorder: null };
  const picks = ids.map((id) => ({ id, instance, dispatch }));
  const claimed = await store.claim({ owner, pool: DEFAULT_POOL, term: 1 }, picks);
  const result = { status: 200, headers: {}, body: new Uint8Array(8) };
  const end = { firstByteAtMs: null, outcome: "succeeded", detail: null };
  const all = await cpuMs(async () => {
    for (const job of claimed) {
      if (job !== null) await store.finish({ id: job.id, epoch: job.epoch, owner }, { kind: "succeeded", result }, end);
    }
  });
  const spend = createSpending(database);
  const rows = database.prepare<[], JobRow>("SELECT * FROM jobs").all();
  const sums = await cpuMs(() => {
    for (const row of rows) spend(row, null);
  });
  await store.close();
  const each = ((sums / ENDS) * 1_000).toFixed(0);
  return {
    ...{ name: `an end with its sums over one without, ${STRETCHES} stretches`, value: all / (all - sums), unit: "x" },
    bar: { rule: "below", value: 2 },
    note: `the sums take ${each} µs of CPU, no commit counted`,
  };
}

async function cpuMs(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
