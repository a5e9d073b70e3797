// What watching costs: calls through the router while fifty dashboards are open against none, in turns; the pages' own
// reads over a large past; and the memory that readers hold who take nothing.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { prepareWriter } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/store/sqlite/open.ts";
import { type RouterChild, type ScriptChild, startRouterChild, startScript } from "./children.ts";
import type { Bench, Figure, Stage } from "./figure.ts";
import { type Client, createClient, openLoop, pause } from "./load.ts";
import { seedPast } from "./seed-store.ts";
import { median, spreadOf } from "./statistics.ts";

const JOBS = Number(process.env["SIR_BENCH_JOBS"] ?? 100_000);
const DASHBOARDS = 50;
const ROUNDS = 9;
const SLICE_SECONDS = 2;
/** Four events each: accepted, dispatched, first byte, finished. */
const CALLS_PER_SECOND = 250;
const STALLED = 40;
const STALL_SECONDS = Number(process.env["SIR_BENCH_STALL_SECONDS"] ?? 90);
const READS = 300;
const HOUR_MS = 3_600_000;

interface Scene {
  readonly router: RouterChild;
  readonly client: Client;
  readonly readers: ScriptChild;
  readonly port: number;
  progress(text: string): void;
}

export const dashboardsBench: Bench = {
  name: "dashboards",
  title: `${DASHBOARDS} dashboards open while ${4 * CALLS_PER_SECOND} events a second happen; reads over ${JOBS} jobs`,
  async run(stage) {
    const engine = await startScript("./engine-process.ts");
    const router = await startRouterChild(stage.folder, seeded(stage, (engine.first as { port: number }).port));
    const readers = await startScript("./stream-readers.ts");
    const client = createClient(router.origin, 64);
    const port = Number(new URL(router.origin).port);
    const scene: Scene = { router, client, readers, port, progress: (text) => stage.progress(text) };
    try {
      return [...(await reads(scene)), ...(await watched(scene)), ...(await stalled(scene))];
    } finally {
      await client.close();
      await router.kill();
      await readers.kill();
      await engine.kill();
    }
  },
};

/** The configuration of a router whose store has a large past. */
function seeded({ folder, progress }: Stage, enginePort: number): object {
  progress(`storing ${JOBS} jobs`);
  mkdirSync(join(folder, "data"), { recursive: true });
  const db = new Database(join(folder, "data", "sir.db"));
  prepareWriter(db, "OFF");
  migrate(db, MIGRATIONS);
  const mocks = ["chat", "code", "gamma", "delta"];
  seedPast(db, { jobs: JOBS, decisions: JOBS / 4, nowMs: Date.now(), models: mocks, devices: ["gpu0", "gpu1"] });
  db.close();
  const backend = { driver: "remote", baseUrl: `http://127.0.0.1:${enginePort}/v1` };
  return {
    devices: { gpu0: { memoryGiB: 24 }, gpu1: { memoryGiB: 24 } },
    models: {
      ...Object.fromEntries(mocks.map((name) => [name, { memoryGiB: 20, backend: { driver: "mock" } }])),
      m: { concurrency: 64, backend },
    },
  };
}

const CALL = {
  method: "POST" as const,
  path: "/v1/chat/completions",
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "Is this overhead?" }] })),
};

async function watched({ client, readers, port, router, progress }: Scene): Promise<Figure[]> {
  const slice = async (dashboards: number) => {
    const { open } = (await readers.ask({ port, open: dashboards })) as { open: number };
    if (open !== dashboards) throw new Error(`${open} streams are open instead of ${dashboards}`);
    const cpuFromMs = router.cpuMs();
    const { tookMs } = await openLoop(CALLS_PER_SECOND, SLICE_SECONDS, () => client.timed(CALL));
    const cpuShare = (router.cpuMs() - cpuFromMs) / (SLICE_SECONDS * 1_000);
    const { bytes } = (await readers.ask({ port, open: 0 })) as { bytes: number };
    await pause(100);
    return { p50: spreadOf(tookMs).p50, cpuShare, bytes };
  };
  await slice(0);
  await slice(DASHBOARDS);
  const rounds = [];
  for (let n = 0; n < ROUNDS; n++) {
    progress(`round ${n + 1} of ${ROUNDS}`);
    const first = await slice(n % 2 === 0 ? 0 : DASHBOARDS);
    const second = await slice(n % 2 === 0 ? DASHBOARDS : 0);
    rounds.push(n % 2 === 0 ? { none: first, many: second } : { none: second, many: first });
  }
  const bytes = median(rounds.map(({ many }) => many.bytes)) / SLICE_SECONDS / DASHBOARDS / 1_024;
  return [
    { name: "call through, nobody watches, p50", value: median(rounds.map(({ none }) => none.p50)), unit: "ms" },
    { name: `call through, ${DASHBOARDS} watch, p50`, value: median(rounds.map(({ many }) => many.p50)), unit: "ms" },
    {
      name: `${DASHBOARDS} watch over nobody, p50, median of rounds`,
      value: median(rounds.map(({ none, many }) => many.p50 / none.p50)),
      unit: "x",
      bar: { rule: "below", value: 1.05 },
    },
    {
      name: "CPU of the router for them, of one core",
      value: 100 * median(rounds.map(({ none, many }) => many.cpuShare - none.cpuShare)),
      unit: "%",
      note: `${bytes.toFixed(0)} KiB/s to each`,
    },
  ];
}

const query = (hours: number): string => `from_ms=${Date.now() - hours * HOUR_MS}`;

const PAGES: readonly { name: string; path: () => string; belowMs?: number }[] = [
  { name: "/healthz, the floor", path: () => "/healthz" },
  { name: "/v1/status", path: () => "/v1/status", belowMs: 5 },
  { name: "/v1/timeline, 2 h", path: () => `/v1/timeline?${query(2)}`, belowMs: 20 },
  { name: "/v1/timeline, 24 h", path: () => `/v1/timeline?${query(24)}`, belowMs: 20 },
  { name: "/v1/series, 24 h", path: () => `/v1/series?${query(24)}&step_ms=300000` },
  { name: "jobs, newest 50", path: () => "/v1/jobs?view=rows&limit=50", belowMs: 5 },
  { name: "jobs, failed", path: () => "/v1/jobs?view=rows&limit=50&status=failed", belowMs: 5 },
  { name: "jobs, one model", path: () => "/v1/jobs?view=rows&limit=50&model=code", belowMs: 5 },
  { name: "jobs, longest wait of 2 h", path: () => "/v1/jobs?view=rows&limit=50&sort=wait", belowMs: 5 },
  { name: "jobs, rare and bounded", path: () => "/v1/jobs?view=rows&limit=50&cause=router_down" },
  { name: "decisions, newest 20", path: () => "/v1/decisions", belowMs: 5 },
  { name: "decisions, forced", path: () => "/v1/decisions?reason=ceiling", belowMs: 5 },
];

/** One request after the other: what a reader waits, and what it costs the router. */
async function reads({ client, router, progress }: Scene): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, path, belowMs } of PAGES) {
    progress(name);
    const count = name.includes("rare") ? READS / 10 : READS;
    const ask = () => client.timed({ method: "GET", path: path() });
    for (let n = 0; n < count / 5; n++) await ask();
    const cpuFromMs = router.cpuMs();
    const tookMs: number[] = [];
    for (let n = 0; n < count; n++) tookMs.push((await ask()).endMs);
    const cpuMs = (router.cpuMs() - cpuFromMs) / count;
    const { p50, p99 } = spreadOf(tookMs);
    const note = `p50 ${p50.toFixed(2)} ms, CPU ${cpuMs.toFixed(2)} ms each`;
    const bar = belowMs === undefined ? {} : { bar: { rule: "below", value: belowMs } as const };
    figures.push({ name: `${name}, p99`, value: p99, unit: "ms", note, ...bar });
  }
  return figures;
}

/** Readers that take nothing while as much happens, against as long a time with none of them. */
async function stalled({ client, readers, port, router, progress }: Scene): Promise<Figure[]> {
  const held = async (seconds: number): Promise<number> => {
    await openLoop(CALLS_PER_SECOND, seconds, () => client.timed(CALL));
    const samples: number[] = [];
    for (let n = 0; n < 10; n++) {
      samples.push(router.residentMiB());
      await pause(100);
    }
    return Math.min(...samples);
  };
  progress(`${STALL_SECONDS} s with one reader that takes everything`);
  await readers.ask({ port, open: 1 });
  await held(STALL_SECONDS / 3);
  const beforeMiB = await held((2 * STALL_SECONDS) / 3);
  progress(`${STALL_SECONDS} s with ${STALLED} readers that take nothing`);
  await readers.ask({ port, open: STALLED, stall: true });
  const afterMiB = await held(STALL_SECONDS);
  await readers.ask({ port, open: 0 });
  return [
    { name: "resident memory before readers stall", value: beforeMiB, unit: "MiB" },
    {
      name: `added by each of ${STALLED} readers that took nothing for ${STALL_SECONDS} s`,
      value: (afterMiB - beforeMiB) / STALLED,
      unit: "MiB",
      bar: { rule: "below", value: 1 },
    },
  ];
}
