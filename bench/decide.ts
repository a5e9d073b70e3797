// How long a decision takes while a thousand, a hundred thousand and a million jobs wait: the engine's own queues, its
// own snapshot, its own `decide`. It must not depend on how many wait.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { LiveJob } from "../src/engine/live-job.ts";
import { snapshotOf } from "../src/engine/views.ts";
import { decide } from "../src/scheduler/decide.ts";
import { bindPolicy } from "../src/scheduler/policies/registry.ts";
import type { BoundPolicy } from "../src/scheduler/policy.ts";
import type { Bar, Bench, Figure, Stage } from "./figure.ts";
import { createScene, type QueueScene } from "./queue-scene.ts";
import { type Spread, spreadOf } from "./statistics.ts";

const SIZES = [1_000, 100_000, 1_000_000] as const;
const WARM_UP = 3_000;
const ROUNDS = 20;
const PER_ROUND = 500;
const ORPHANS = 10_000;
const VARIANT_TIMES = 5_000;
const BAR: Bar = { rule: "below", value: 1 };

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

export const decideBench: Bench = {
  name: "decide",
  title: "Decisions: snapshot and decide, 8 models, jobs of three bands",
  async run(stage) {
    const policy = bindPolicy("model-score", {});
    const scenes: Held[] = [];
    for (const size of SIZES) scenes.push(await hold(size, policy, stage));
    for (const scene of scenes) decideOften(scene, policy, WARM_UP);
    const taken = scenes.map(() => [] as Took[]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, scene] of scenes.entries()) taken[i]?.push(...decideOften(scene, policy, PER_ROUND));
    }
    const figures = scenes.flatMap((scene, i) => figuresOf(scene, taken[i] ?? []));
    const p50 = (i: number): number => spreadOf((taken[i] ?? []).map(({ cpuMs }) => cpuMs)).p50;
    figures.push({ name: "decision with 1e6 over one with 1e3, CPU, p50", value: p50(2) / p50(0), unit: "x" });
    figures.push(...weighed(scenes, stage));
    const largest = scenes.at(-1);
    if (largest !== undefined) figures.push(...variants(largest, stage));
    return figures;
  },
};

interface Held extends QueueScene {
  readonly label: string;
  readonly bytesPerJob: number;
}

async function hold(size: number, policy: BoundPolicy, { progress }: Stage): Promise<Held> {
  progress(`queueing ${size} jobs`);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const scene = await createScene(size, policy);
  collectGarbage();
  const bytesPerJob = (process.memoryUsage().heapUsed - before) / size;
  return { ...scene, label: `1e${Math.round(Math.log10(size))}`, bytesPerJob };
}

interface Took {
  /** By the clock on the wall: with whatever else ran on this processor meanwhile. */
  readonly wallMs: number;
  /** What this process computed, on all its threads: the decision itself and its share of collecting garbage. */
  readonly cpuMs: number;
  readonly insertMs: number;
  readonly removeMs: number;
}

/** One job leaves, one arrives, a millisecond passes; then the decision. */
function decideOften(scene: QueueScene, policy: BoundPolicy, times: number): Took[] {
  const took: Took[] = [];
  for (let n = 0; n < times; n++) {
    scene.clock.advance(1);
    const leaving = scene.leaving();
    const a = performance.now();
    scene.remove(leaving);
    const b = performance.now();
    const arriving = scene.make();
    const c = performance.now();
    scene.add(arriving);
    const d = performance.now();
    const used = process.cpuUsage();
    const snapshot = snapshotOf(scene.device, [scene.device], scene.world);
    const { kind } = decide(snapshot, policy);
    const { user, system } = process.cpuUsage(used);
    const e = performance.now();
    if (kind === "idle") throw new Error("nothing waited: the scene is wrong");
    took.push({ wallMs: e - d, cpuMs: (user + system) / 1_000, insertMs: d - c, removeMs: b - a });
  }
  return took;
}

function figuresOf({ label, bytesPerJob }: Held, took: readonly Took[]): Figure[] {
  const of = (key: keyof Took): Spread => spreadOf(took.map((each) => each[key]));
  const at = `with ${label} queued`;
  const isLargest = label === "1e6";
  const figures: Figure[] = [
    { name: `decision ${at}, CPU, p50`, value: of("cpuMs").p50, unit: "ms" },
    { name: `decision ${at}, CPU, p99`, value: of("cpuMs").p99, unit: "ms", ...(isLargest ? { bar: BAR } : {}) },
    { name: `decision ${at}, CPU, most of ${took.length}`, value: of("cpuMs").max, unit: "ms" },
    { name: `decision ${at}, wall, p50`, value: of("wallMs").p50, unit: "ms" },
    { name: `decision ${at}, wall, p99`, value: of("wallMs").p99, unit: "ms", note: "with what others ran meanwhile" },
    { name: `a job into the queue ${at}, p50`, value: of("insertMs").p50 * 1_000, unit: "us" },
    { name: `a job out of the queue ${at}, p50`, value: of("removeMs").p50 * 1_000, unit: "us" },
  ];
  const note = "heap: job, queues, lease, index by id";
  if (isLargest) figures.push({ name: `memory of a queued job ${at}`, value: bytesPerJob, unit: "bytes", note });
  return figures;
}

/** Stint weighs sums per model and band, so it must not depend on how many wait either. */
function weighed(scenes: readonly Held[], { progress }: Stage): Figure[] {
  progress("policy stint");
  const stint = bindPolicy("stint", {});
  for (const scene of scenes) decideOften(scene, stint, WARM_UP);
  const took = scenes.map((scene) => spreadOf(decideOften(scene, stint, VARIANT_TIMES).map(({ cpuMs }) => cpuMs)));
  const figures = scenes.map(({ label }, i): Figure => {
    const bar = label === "1e6" ? { bar: BAR } : {};
    return { name: `decision with ${label} queued, CPU, p99, stint`, value: took[i]?.p99 ?? 0, unit: "ms", ...bar };
  });
  const ratio = (took.at(-1)?.p50 ?? 0) / (took[0]?.p50 ?? 1);
  return [...figures, { name: "decision with 1e6 over one with 1e3, CPU, p50, stint", value: ratio, unit: "x" }];
}

/** What else could make a decision slow: another policy, or a queue whose head is full of callers who have left. */
function variants(scene: Held, { progress }: Stage): Figure[] {
  const cpuP99 = (policy: BoundPolicy): number => {
    decideOften(scene, policy, WARM_UP);
    return spreadOf(decideOften(scene, policy, VARIANT_TIMES).map(({ cpuMs }) => cpuMs)).p99;
  };
  const figures = ["fifo", "serial", "longest"].map((name): Figure => {
    progress(`policy ${name}`);
    const value = cpuP99(bindPolicy(name, {}));
    return { name: `decision with 1e6 queued, CPU, p99, ${name}`, value, unit: "ms", bar: BAR };
  });
  progress(`${ORPHANS} orphans`);
  const left: LiveJob[] = [];
  for (const job of scene.queueOfFirst().jobs()) if (left.push(job) === ORPHANS) break;
  for (const job of left) scene.queueOfFirst().setDemand(job, false);
  const value = cpuP99(bindPolicy("model-score", {}));
  const note = "callers who hung up and may come back, before all others of their model";
  figures.push({ name: `decision with 1e6 queued, CPU, p99, ${ORPHANS} orphans`, value, unit: "ms", note });
  return figures;
}
