// What watching costs: calls through the router while fifty dashboards are open against none, in turns; the pages' own
// reads over a large past; and the memory that readers hold who take nothing.

import type { Bench, Figure } from "./figure.ts";
import { openLoop, pause } from "./load.ts";
import { median, spreadOf } from "./statistics.ts";
import { CALL, openScene, PAGES, type Scene } from "./watched-router.ts";

const JOBS = Number(process.env["SIR_BENCH_JOBS"] ?? 100_000);
export const DASHBOARDS = 50;
const ROUNDS = 9;
const SLICE_SECONDS = 2;
/** Four events each: accepted, dispatched, first byte, finished. */
export const CALLS_PER_SECOND = 250;
const STALLED = 40;
const STALL_SECONDS = Number(process.env["SIR_BENCH_STALL_SECONDS"] ?? 90);
const READS = 300;

export const dashboardsBench: Bench = {
  name: "dashboards",
  title: `${DASHBOARDS} dashboards open while ${4 * CALLS_PER_SECOND} events a second happen; reads over ${JOBS} jobs`,
  async run(stage) {
    const scene = await openScene(stage, JOBS);
    try {
      return [...(await reads(scene)), ...(await watched(scene)), ...(await stalled(scene))];
    } finally {
      await scene.close();
    }
  },
};

interface Slice {
  readonly p50: number;
  /** Of one core, what the router used. */
  readonly cpuShare: number;
  readonly bytes: number;
}

export interface Round {
  readonly none: Slice;
  readonly many: Slice;
}

/** Calls while dashboards are open and while none is, in turns, which take turns at going first. */
export async function watchedRounds(scene: Scene, rounds: number, seconds: number): Promise<readonly Round[]> {
  const { client, readers, port, router, progress } = scene;
  const slice = async (dashboards: number): Promise<Slice> => {
    const { open } = (await readers.ask({ port, open: dashboards })) as { open: number };
    if (open !== dashboards) throw new Error(`${open} streams are open instead of ${dashboards}`);
    const cpuFromMs = router.cpuMs();
    const { tookMs } = await openLoop(CALLS_PER_SECOND, seconds, () => client.timed(CALL));
    const cpuShare = (router.cpuMs() - cpuFromMs) / (seconds * 1_000);
    const { bytes } = (await readers.ask({ port, open: 0 })) as { bytes: number };
    await pause(100);
    return { p50: spreadOf(tookMs).p50, cpuShare, bytes };
  };
  await slice(0);
  await slice(DASHBOARDS);
  const all: Round[] = [];
  for (let n = 0; n < rounds; n++) {
    progress(`round ${n + 1} of ${rounds}`);
    const first = await slice(n % 2 === 0 ? 0 : DASHBOARDS);
    const second = await slice(n % 2 === 0 ? DASHBOARDS : 0);
    all.push(n % 2 === 0 ? { none: first, many: second } : { none: second, many: first });
  }
  return all;
}

async function watched(scene: Scene): Promise<Figure[]> {
  const rounds = await watchedRounds(scene, ROUNDS, SLICE_SECONDS);
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
