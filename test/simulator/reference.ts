// An independent simulator of the same rules, where its folder is at hand: its workloads as our trace files, its verdict
// on a run, and the two places in which it looks at the clock more coarsely, or breaks a tie otherwise, than we do.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { simulatedModel, type Workload } from "../../src/simulator/workload.ts";

export const referenceFolder =
  process.env["SIR_REFERENCE"] ?? resolve(import.meta.dirname, "../../../shared/reference");

interface ReferenceModel {
  readonly name: string;
  readonly load: number;
  readonly unload: number;
  readonly solo: number;
  readonly alpha: number;
  readonly K: number;
  readonly priority: number;
}

interface ReferenceJob {
  readonly t: number;
  readonly m: number;
  readonly b: number;
  readonly p: number;
}

export interface Scenario {
  readonly models: readonly ReferenceModel[];
  readonly jobs: readonly ReferenceJob[];
}

export interface Verdict {
  readonly swaps: number;
  readonly loads: number;
  readonly loading: number;
  readonly mean: number;
  readonly wmean: number;
  readonly unserved: number;
}

type Make = (...options: unknown[]) => unknown;

export interface Reference {
  readonly scenarios: Readonly<Record<"homelab" | "poisson", (options: object) => Scenario>>;
  readonly policies: Readonly<Record<"fifo" | "fifoCollate" | "elq" | "serial" | "sir" | "stint", Make>>;
  judge(scenario: Scenario, policy: unknown): Verdict;
}

/** Null: it is not here. */
export async function openReference(): Promise<Reference | null> {
  if (!existsSync(join(referenceFolder, "engine.mjs"))) return null;
  const engine = await plain("engine.mjs");
  const Engine = engine["Engine"] as new (parts: object) => { run(): unknown };
  const metrics = engine["metrics"] as (run: unknown) => Verdict;
  return {
    scenarios: (await plain("scenarios.mjs")) as unknown as Reference["scenarios"],
    policies: {
      ...(await mended("policies.mjs", TIES)),
      ...(await mended("stint.mjs", WAKES)),
    } as Reference["policies"],
    judge: (scenario, policy) => {
      const until = Math.max(...scenario.jobs.map(({ t }) => t)) + 12 * 3_600;
      return metrics(new Engine({ ...scenario, policy, until, tick: 0.05 }).run());
    },
  };
}

/** Of equally long queues it takes the first in the list; we take the one whose oldest job waits longest. */
const TIES: readonly (readonly [string, string])[] = [
  [
    "if (S.q[i].n > n) { n = S.q[i].n; m = i; }",
    `{ const old = k => Math.min(...[0, 1, 2].map(b => S.head(k, b)?.t ?? Infinity));
       if (S.q[i].n > n || (n > 0 && S.q[i].n === n && old(i) < old(m))) { n = S.q[i].n; m = i; } }`,
  ],
];

/** It looks again up to ten seconds after a condition came true; we look at the instant. */
const WAKES: readonly (readonly [string, string])[] = [
  ["Math.min(10, Math.max(0.25, Math.max(price", "Math.min(0.05, Math.max(0.002, Math.max(price"],
  ["Math.max(0.05, nextAt", "Math.max(0.002, nextAt"],
];

type Module = Readonly<Record<string, unknown>>;

function plain(file: string): Promise<Module> {
  return import(/* @vite-ignore */ pathToFileURL(join(referenceFolder, file)).href) as Promise<Module>;
}

/** @throws when a passage is not there: then the comparison means something else */
async function mended(file: string, changes: readonly (readonly [string, string])[]): Promise<Module> {
  let text = readFileSync(join(referenceFolder, file), "utf8");
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${file} of the reference no longer has: ${from}`);
    text = text.replace(from, to);
  }
  const folder = mkdtempSync(join(tmpdir(), "sir-reference-"));
  try {
    writeFileSync(join(folder, file), text);
    return (await import(/* @vite-ignore */ pathToFileURL(join(folder, file)).href)) as Module;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** In order of arrival, with one unload time for all models: it charges the unload of what comes in, we of what goes. */
export function evened({ models, jobs }: Scenario): Scenario {
  return {
    models: models.map((model) => ({ ...model, unload: 2 })),
    jobs: [...jobs].sort((a, b) => a.t - b.t),
  };
}

/** @param equal All models have the same priority of their own, as for a rule that knows none. */
export function workloadOf({ models, jobs }: Scenario, equal: boolean): Workload {
  return {
    name: "reference",
    source: "an independent simulator's own arrivals",
    models: models.map(({ name, load, unload, solo, alpha, K, priority }) =>
      simulatedModel(name, {
        priority: equal ? 1 : priority,
        concurrency: K,
        loadMs: load * 1_000,
        unloadMs: unload * 1_000,
        firstTokenMs: 0,
        tokensPerSecond: 1_000,
        slowdownPerJob: alpha,
        guessedWorkMs: solo * 1_000,
      }),
    ),
    arrivals: jobs.map(({ t, m, b, p }) => ({
      atMs: t * 1_000,
      model: models[m]?.name ?? "",
      priority: [100, 0, -100][b] ?? 0,
      tokens: 1,
      workMs: p * 1_000,
    })),
    untilMs: null,
  };
}
