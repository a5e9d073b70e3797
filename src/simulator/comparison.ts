// Rules against workloads: each pair over the same seeds, in as many threads as there are processors, told as rows in the
// order in which they were asked for, whatever finished first.

import { readFileSync } from "node:fs";
import { workloadNamed } from "./catalogue.ts";
import { entrantNamed, settingsOf } from "./lineup.ts";
import { replay } from "./replay.ts";
import { deviation, meanScore, type Score, scoreOf } from "./score.ts";
import type { Source, Task } from "./task.ts";
import { TaskThreads } from "./task-threads.ts";
import { readTrace } from "./trace.ts";
import type { Workload } from "./workload.ts";

/** So long after the last arrival a run is given up; what still waits counts as unserved. */
const PATIENCE_MS = 12 * 3_600_000;

export interface Row extends Score {
  readonly workload: string;
  readonly policy: string;
  /** How many; of a workload that draws nothing one stands for all. */
  readonly seeds: number;
  /** Between seeds. */
  readonly weightedMeanWaitDeviation: number;
}

export interface Comparison {
  readonly sources: readonly Source[];
  readonly policies: readonly string[];
  readonly seeds: readonly number[];
  readonly tracesFolder: string;
  /** At once; 1 runs in this thread. */
  readonly threads: number;
  /** Hears of each run that is done. */
  progress?(task: Task, score: Score, done: number, of: number): void;
}

export async function runTask({ source, policy, seed, tracesFolder }: Task): Promise<Score> {
  const entrant = entrantNamed(policy);
  if (entrant === null) throw new Error(`there is no policy "${policy}"`);
  const workload = workloadOf(source, seed, tracesFolder);
  const equal = { ...workload, models: workload.models.map((model) => ({ ...model, priority: 1 })) };
  const run = await replay(entrant.equal ? equal : workload, settingsOf(entrant), { patienceMs: PATIENCE_MS });
  return scoreOf(run);
}

function workloadOf(source: Source, seed: number, tracesFolder: string): Workload {
  if (source.kind === "file") return readTrace(readFileSync(source.path, "utf8"));
  const named = workloadNamed(source.name);
  if (named === null) throw new Error(`there is no workload "${source.name}"`);
  return named.make(seed, tracesFolder);
}

export async function compare(comparison: Comparison): Promise<Row[]> {
  const { sources, policies, seeds, tracesFolder, threads, progress } = comparison;
  const seedsOf = (source: Source): readonly number[] =>
    source.kind === "named" && source.drawn ? seeds : seeds.slice(0, 1);
  const pairs = sources.flatMap((source) => policies.map((policy) => ({ source, policy })));
  const tasks = pairs.flatMap(({ source, policy }) =>
    seedsOf(source).map((seed): Task => ({ source, policy, seed, tracesFolder })),
  );
  const scores = await runAll(tasks, threads, progress);
  return pairs.map(({ source, policy }): Row => {
    const own = tasks.flatMap((task, i) => (task.source === source && task.policy === policy ? (scores[i] ?? []) : []));
    return {
      workload: source.name,
      policy,
      seeds: seeds.length,
      ...meanScore(own),
      weightedMeanWaitDeviation: deviation(own.map((score) => score.weightedMeanWaitSeconds)),
    };
  });
}

async function runAll(tasks: readonly Task[], threads: number, progress: Comparison["progress"]): Promise<Score[]> {
  const scores: Score[] = [];
  const pool = threads > 1 ? new TaskThreads(Math.min(threads, tasks.length)) : null;
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < tasks.length; i = next++) {
      const task = tasks[i];
      if (task === undefined) return;
      const score = await (pool === null ? runTask(task) : pool.run(task));
      scores[i] = score;
      progress?.(task, score, ++done, tasks.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: pool?.size ?? 1 }, worker));
  } finally {
    await pool?.close();
  }
  return scores;
}
