// How many polls a second a router answers while ten jobs wait and while a hundred thousand do. Two routers side by
// side, measured in turns; the same with a route that does nothing, as the floor of HTTP itself.

import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JobId, ModelName } from "../src/domain/ids.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { SystemClock } from "../src/system/clock.ts";
import { createIds } from "../src/system/ids.ts";
import { type RouterChild, startRouterChild } from "./children.ts";
import type { Bench, Figure, Stage } from "./figure.ts";
import { type Client, closedLoop, createClient, metric } from "./load.ts";
import { SLOW_MODEL, slowConfig } from "./slow-model.ts";
import { median } from "./statistics.ts";
import { newJob } from "./store.ts";

const FEW = 10;
const MANY = 100_000;
const ROUNDS = 9;
const SLICE_MS = 1_200;
const IN_FLIGHT = 8;
const SEEDED_AT_ONCE = 2_000;

export const pollBench: Bench = {
  name: "poll",
  title: `GET /v1/jobs/{id} while ${FEW} and while ${MANY} jobs wait, ${IN_FLIGHT} in flight, ${ROUNDS} rounds`,
  async run(stage) {
    const few = await open(stage, FEW);
    const many = await open(stage, MANY);
    try {
      for (const side of [few, many]) await polls(side);
      const rounds: Round[] = [];
      for (let n = 0; n < ROUNDS; n++) {
        stage.progress(`round ${n + 1} of ${ROUNDS}`);
        const [first, second] = n % 2 === 0 ? [few, many] : [many, few];
        const a = await polls(first);
        const b = await polls(second);
        const floor = await closedLoop(IN_FLIGHT, SLICE_MS, () => few.client.send({ method: "GET", path: "/healthz" }));
        rounds.push(n % 2 === 0 ? { few: a, many: b, floor } : { few: b, many: a, floor });
      }
      return report(rounds, many.router.startedInMs);
    } finally {
      for (const { client, router } of [few, many]) {
        await client.close();
        await router.kill();
      }
    }
  },
};

interface Side {
  readonly router: RouterChild;
  readonly client: Client;
  readonly ids: readonly JobId[];
}

/** A store with so many queued jobs, and then a router on it. */
async function open({ folder, progress }: Stage, jobs: number): Promise<Side> {
  progress(`storing ${jobs} jobs`);
  const home = join(folder, String(jobs));
  mkdirSync(join(home, "data"), { recursive: true });
  const ids = await seed(join(home, "data", "sir.db"), jobs);
  progress(`starting a router on ${jobs} jobs`);
  const router = await startRouterChild(home, slowConfig());
  const client = createClient(router.origin, IN_FLIGHT);
  const waiting = await metric(client, `sir_queue_depth{model="${SLOW_MODEL}",band="normal"}`);
  if (waiting < jobs - 1) throw new Error(`${waiting} jobs wait instead of ${jobs}`);
  return { router, client, ids };
}

async function seed(path: string, jobs: number): Promise<readonly JobId[]> {
  const clock = new SystemClock();
  const ids = createIds(clock);
  const store = await openSqliteStore({
    host: "worker",
    path,
    owner: ids.next("boot"),
    clock,
    ranking: { kind: "aging", msPerPoint: 60_000 },
    resultTtlMs: 86_400_000,
    readTtlMs: null,
    maxStoredBytes: 20 * 2 ** 30,
    deadlineMs: 600_000,
    onFatal(error) {
      throw error;
    },
  });
  const bytes = Buffer.from(JSON.stringify({ model: SLOW_MODEL, messages: [{ role: "user", content: "How long?" }] }));
  const sha256 = createHash("sha256").update(bytes).digest();
  const all = Array.from({ length: jobs }, () => ids.next("job"));
  for (let at = 0; at < jobs; at += SEEDED_AT_ONCE) {
    const some = all.slice(at, at + SEEDED_AT_ONCE);
    const model = SLOW_MODEL as ModelName;
    await Promise.all(some.map((id) => store.add({ ...newJob(id, Buffer.from(bytes), sha256), model, leaseMs: null })));
  }
  await store.close();
  return all;
}

interface Polled {
  readonly perSecond: number;
  readonly cpuMsEach: number;
}

/** Of any of the jobs that wait, not of the same one over and over; the first one runs. */
async function polls({ router, client, ids }: Side): Promise<Polled> {
  const cpuFromMs = router.cpuMs();
  let n = 0;
  const perSecond = await closedLoop(IN_FLIGHT, SLICE_MS, () => {
    const id = ids[1 + ((n++ * 7_919) % (ids.length - 1))];
    return client.send({ method: "GET", path: `/v1/jobs/${id}` });
  });
  return { perSecond, cpuMsEach: (router.cpuMs() - cpuFromMs) / n };
}

interface Round {
  readonly few: Polled;
  readonly many: Polled;
  readonly floor: number;
}

function report(rounds: readonly Round[], startedInMs: number): Figure[] {
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  return [
    { name: "GET /healthz", value: of(({ floor }) => floor), unit: "/s" },
    { name: `polls while ${FEW} wait`, value: of(({ few }) => few.perSecond), unit: "/s" },
    { name: `polls while ${MANY} wait`, value: of(({ many }) => many.perSecond), unit: "/s" },
    { name: "many over few", value: of(({ few, many }) => many.perSecond / few.perSecond), unit: "x" },
    { name: "polls while many wait over /healthz", value: of(({ many, floor }) => many.perSecond / floor), unit: "x" },
    { name: `CPU of the router for each poll, ${FEW} wait`, value: of(({ few }) => few.cpuMsEach) * 1_000, unit: "us" },
    {
      name: `CPU of the router for each poll, ${MANY} wait`,
      value: of(({ many }) => many.cpuMsEach) * 1_000,
      unit: "us",
    },
    {
      name: `start of a router on ${MANY} queued jobs`,
      value: startedInMs,
      unit: "ms",
      note: "process and recovery, until it listens",
    },
  ];
}
