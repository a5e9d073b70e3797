// How long a decision takes while a thousand, a hundred thousand and a million jobs wait: the engine's own queues, its
// own snapshot, its own `decide`. It must not depend on how many wait.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { LiveJob } from "../src/engine/live-job.ts";
import { snapshotOf } from "../src/engine/views.ts";
import { decide } from "../src/scheduler/decide.ts";
import { bindPolicy } from "../src/scheduler/policies/registry.ts";
import type { BoundPolicy } from "../src/scheduler/policy.ts";
import type { Bench, Figure, Stage } from "./figure.ts";
import { createScene, type QueueScene } from "./queue-scene.ts";
import { type Spread, spreadOf } from "./statistics.ts";

const SIZES = [1_000, 100_000, 1_000_000] as const;
const WARM_UP = 3_000;
const ROUNDS = 40;
const PER_ROUND = 500;
const ORPHANS = 10_000;
const BAR_MS = 1;

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
    const p50 = (i: number): number => spreadOf((taken[i] ?? []).map(({ decisionMs }) => decisionMs)).p50;
    figures.push({ name: "a decision at 1e6 over one at 1e3, p50", value: p50(2) / p50(0), unit: "x" });
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
  readonly decisionMs: number;
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
    const snapshot = snapshotOf(scene.device, [scene.device], scene.world);
    const { kind } = decide(snapshot, policy);
    const e = performance.now();
    if (kind === "idle") throw new Error("nothing waited: the scene is wrong");
    took.push({ decisionMs: e - d, insertMs: d - c, removeMs: b - a });
  }
  return took;
}

function figuresOf({ label, bytesPerJob }: Held, took: readonly Took[]): Figure[] {
  const of = (key: keyof Took): Spread => spreadOf(took.map((each) => each[key]));
  const decision = of("decisionMs");
  const at = `with ${label} queued`;
  const bar = label === "1e6" ? { bar: { rule: "below", value: BAR_MS } as const } : {};
  return [
    { name: `decision ${at}, p50`, value: decision.p50, unit: "ms" },
    { name: `decision ${at}, p99`, value: decision.p99, unit: "ms", ...bar },
    {
      name: `decision ${at}, slowest of ${took.length}`,
      value: decision.max,
      unit: "ms",
      note: "with whatever the machine did meanwhile",
    },
    { name: `a job into the queue ${at}, p50`, value: of("insertMs").p50 * 1_000, unit: "us" },
    { name: `a job out of the queue ${at}, p50`, value: of("removeMs").p50 * 1_000, unit: "us" },
    {
      name: `memory a queued job ${at}`,
      value: bytesPerJob,
      unit: "bytes",
      note: "heap: job, queues, lease, index by id",
    },
  ];
}

/** What else could make a decision slow: another policy, or a queue whose head is full of callers who have left. */
function variants(scene: Held, { progress }: Stage): Figure[] {
  const figures = ["fifo", "serial", "longest"].map((name): Figure => {
    progress(`policy ${name}`);
    const policy = bindPolicy(name, {});
    decideOften(scene, policy, WARM_UP);
    const { p99 } = spreadOf(decideOften(scene, policy, ROUNDS * PER_ROUND).map(({ decisionMs }) => decisionMs));
    return {
      name: `decision with 1e6 queued, p99, ${name}`,
      value: p99,
      unit: "ms",
      bar: { rule: "below", value: BAR_MS },
    };
  });
  progress(`${ORPHANS} orphans`);
  const left: LiveJob[] = [];
  for (const job of scene.queueOfFirst().jobs()) if (left.push(job) === ORPHANS) break;
  for (const job of left) scene.queueOfFirst().setDemand(job, false);
  const policy = bindPolicy("model-score", {});
  const { p99 } = spreadOf(decideOften(scene, policy, ROUNDS * PER_ROUND).map(({ decisionMs }) => decisionMs));
  figures.push({ name: `decision with 1e6 queued, p99, ${ORPHANS} orphans first`, value: p99, unit: "ms" });
  return figures;
}
