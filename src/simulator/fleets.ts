// The models that the made workloads ask for: six services of a home server, and four of a busier one. Sizes, load times
// and lengths of jobs are assumed, as of one 80 GB card; nothing here is measured.

import { type SimulatedModel, simulatedModel } from "./workload.ts";

export interface Member {
  readonly model: SimulatedModel;
  /** Mean length of its jobs, each alone. */
  readonly meanWorkMs: number;
}

export const HOMELAB = [
  member("chat-8b", 6_000, 10, { ...timing(35_000, 2_000, 45, 0.05), priority: 1.5 }),
  member("coder-32b", 25_000, 24, { ...timing(110_000, 2_000, 28, 0.07), priority: 1.5 }),
  member("translate-7b", 4_000, 9, timing(25_000, 2_000, 50, 0.05)),
  member("big-70b", 60_000, 60, { ...timing(300_000, 3_000, 15, 0.08), priority: 0.5 }),
  member("vision-12b", 10_000, 14, { ...timing(60_000, 2_000, 35, 0.07), concurrency: 8 }),
  member("summarise-4b", 3_000, 5, { ...timing(20_000, 2_000, 80, 0.04), priority: 0.5 }),
] as const satisfies readonly Member[];

export const FOUR = [
  member("A", 8_000, 16, { ...timing(40_000, 1_000, 40, 0.06), priority: 1.5 }),
  member("B", 12_000, 24, timing(60_000, 1_000, 30, 0.06)),
  member("C", 20_000, 40, timing(120_000, 1_000, 20, 0.06)),
  member("D", 5_000, 10, { ...timing(30_000, 1_000, 50, 0.06), priority: 0.5 }),
] as const satisfies readonly Member[];

function member(
  name: string,
  meanWorkMs: number,
  memoryGiB: number,
  facts: Partial<Omit<SimulatedModel, "name">>,
): Member {
  return { model: simulatedModel(name, { ...facts, memoryGiB, guessedWorkMs: meanWorkMs }), meanWorkMs };
}

/** Sixteen slots, first token after 200 ms. */
export function timing(
  loadMs: number,
  unloadMs: number,
  tokensPerSecond: number,
  slowdownPerJob: number,
): Omit<SimulatedModel, "name" | "priority" | "memoryGiB" | "guessedWorkMs"> {
  return { loadMs, unloadMs, tokensPerSecond, slowdownPerJob, concurrency: 16, firstTokenMs: 200 };
}
