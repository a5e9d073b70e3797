// How long a caller waits for its receipt: 4 KB bodies, 500 a second whatever becomes of them, to a router in a process
// of its own, each committed before it is answered. Beside it, in turns: the raw disk, and the same load on a route that
// does nothing.

import { join } from "node:path";
import { startRouterChild } from "./children.ts";
import type { Bench, Figure } from "./figure.ts";
import { type Ask, type Client, createClient, metric, openLoop } from "./load.ts";
import { rawSyncs } from "./raw-disk.ts";
import { SLOW_MODEL, slowConfig } from "./slow-model.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";

const PER_SECOND = 500;
const BODY_BYTES = 4_096;
const ROUNDS = 7;
const WARM_UP_SECONDS = 4;
const SLICE_SECONDS = { raw: 1, floor: 2, accept: 4 } as const;
const CONNECTIONS = 256;

interface Round {
  readonly raw: Spread;
  readonly floor: Spread;
  readonly accept: Spread;
  readonly lateP99: number;
  readonly cpuMsEach: number;
}

export const acceptBench: Bench = {
  name: "accept",
  title: `Durable receipts over HTTP, ${PER_SECOND}/s of ${BODY_BYTES / 1_024} KB, ${ROUNDS} rounds`,
  async run({ folder, progress }) {
    const router = await startRouterChild(join(folder, "router"), slowConfig());
    const client = createClient(router.origin, CONNECTIONS);
    const accept = (): Promise<unknown> => client.send(ASK, 202);
    const floor = (): Promise<unknown> => client.send({ method: "GET", path: "/healthz" });
    try {
      progress("warming up");
      await openLoop(PER_SECOND, WARM_UP_SECONDS, accept);
      const before = await commits(client);
      const rounds: Round[] = [];
      for (let n = 1; n <= ROUNDS; n++) {
        progress(`round ${n} of ${ROUNDS}`);
        const raw = spreadOf(rawSyncs(folder, PER_SECOND, SLICE_SECONDS.raw));
        const nothing = await openLoop(PER_SECOND, SLICE_SECONDS.floor, floor);
        const cpuFromMs = router.cpuMs();
        const accepts = await openLoop(PER_SECOND, SLICE_SECONDS.accept, accept);
        const cpuMsEach = (router.cpuMs() - cpuFromMs) / accepts.tookMs.length;
        const lateP99 = spreadOf(accepts.lateMs).p99;
        rounds.push({ raw, floor: spreadOf(nothing.tookMs), accept: spreadOf(accepts.tookMs), lateP99, cpuMsEach });
      }
      const after = await commits(client);
      return report(rounds, (after.jobs - before.jobs) / (after.count - before.count));
    } finally {
      await client.close();
      await router.kill();
    }
  },
};

const ASK: Ask = {
  method: "POST",
  path: "/v1/chat/completions",
  headers: { "content-type": "application/json", prefer: "respond-async" },
  body: chatBody(BODY_BYTES),
};

function chatBody(sizeBytes: number): Uint8Array {
  const shell = JSON.stringify({ model: SLOW_MODEL, messages: [{ role: "user", content: "" }] });
  return Buffer.from(shell.replace('""', `"${"x".repeat(sizeBytes - shell.length)}"`));
}

async function commits(client: Client): Promise<{ jobs: number; count: number }> {
  const jobs = await metric(client, "sir_store_commit_jobs_sum");
  return { jobs, count: await metric(client, "sir_store_commit_jobs_count") };
}

function report(rounds: readonly Round[], jobsPerCommit: number): Figure[] {
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  const late = `the load itself left ${of(({ lateP99 }) => lateP99).toFixed(1)} ms late at p99`;
  return [
    { name: "raw disk: 4 KB written and synced, p50", value: of(({ raw }) => raw.p50), unit: "ms" },
    { name: "raw disk: 4 KB written and synced, p99", value: of(({ raw }) => raw.p99), unit: "ms" },
    { name: "GET /healthz at the same rate, p50", value: of(({ floor }) => floor.p50), unit: "ms" },
    { name: "GET /healthz at the same rate, p99", value: of(({ floor }) => floor.p99), unit: "ms" },
    { name: "receipt, p50", value: of(({ accept }) => accept.p50), unit: "ms" },
    { name: "receipt, p99", value: of(({ accept }) => accept.p99), unit: "ms", note: late },
    { name: "receipt over raw disk, p50", value: of(({ accept, raw }) => accept.p50 / raw.p50), unit: "x" },
    { name: "receipt over raw disk, p99", value: of(({ accept, raw }) => accept.p99 / raw.p99), unit: "x" },
    { name: "receipt over /healthz, p99", value: of(({ accept, floor }) => accept.p99 / floor.p99), unit: "x" },
    { name: "writes that shared one commit, mean", value: jobsPerCommit, unit: "" },
    { name: "CPU of the router for each receipt", value: of(({ cpuMsEach }) => cpuMsEach) * 1_000, unit: "us" },
  ];
}
