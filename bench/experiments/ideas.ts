// Two ideas to beat `stint`, tried beside it on seeds that nothing was tuned on, in the independent simulator that the
// live engine agrees with (its folder in SIR_REFERENCE): a try there takes a fraction of a second. README.md has the verdict.
//
//   node --import tsx bench/experiments/ideas.ts [first seed] [seeds] [workloads, by commas]

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bandOf } from "../../src/domain/band.ts";
import { workloadNamed } from "../../src/simulator/catalogue.ts";
import { type Workload, workMsOf } from "../../src/simulator/workload.ts";

const reference = process.env["SIR_REFERENCE"] ?? "../shared/reference";
const traces = process.env["SIR_TRACES"] ?? "../shared/traces";
const [first = "101", count = "8", only = ""] = process.argv.slice(2);
const WORKLOADS = [
  "homelab",
  "homelab-x3",
  "poisson-0.3",
  "poisson-0.5",
  "poisson-0.8",
  "overload-1.2",
  "mooncake",
  "servegen",
];

type Change = readonly [from: string, to: string];

/** Jobs that will come while a model is being loaded are served by the same load: they count for it. */
const COMPANY: readonly Change[] = [
  [
    "W += w(S, m, b); n += S.q[m].nb[b]; const T",
    "W += w(S, m, b) + P.weight[b] * setup * rate[m][b] * Math.exp(-(S.now - rateAt[m][b]) * Math.LN2 / P.rateHalfLife) * Math.LN2 / P.rateHalfLife; n += S.q[m].nb[b]; const T",
  ],
];

/** A session that has been silent for three of its usual gaps is over: nothing more is held for it. */
const SESSIONS: readonly Change[] = [
  [
    "let x = 0; for (let b = 0; b < 3; b++) x +=",
    "let x = 0; if (quiet > 3 * gap[m]) return 0; for (let b = 0; b < 3; b++) x +=",
  ],
  [
    "onArrive(S, j) {",
    "onArrive(S, j) { { const d = S.now - (seen[j.m] ?? -1e9); if (d < 300) gap[j.m] = 0.8 * gap[j.m] + 0.2 * d; seen[j.m] = S.now; }",
  ],
  [
    "waitSince = S.models.map(() => Infinity); }",
    "waitSince = S.models.map(() => Infinity); gap = S.models.map(() => 60); seen = []; }",
  ],
  ["let M, base = []", "let gap, seen, M, base = []"],
];

const VARIANTS: Readonly<Record<string, readonly Change[]>> = {
  stint: [],
  company: COMPANY,
  sessions: SESSIONS,
  both: [...COMPANY, ...SESSIONS],
};

interface Run {
  run(): unknown;
}
interface Judge {
  readonly Engine: new (parts: object) => Run;
  readonly metrics: (run: unknown) => { readonly wmean: number; readonly swaps: number };
}

const folder = mkdtempSync(join(tmpdir(), "sir-ideas-"));
try {
  await compareIdeas();
} finally {
  rmSync(folder, { recursive: true });
}

async function compareIdeas(): Promise<void> {
  const judge = (await import(pathToFileURL(resolve(reference, "engine.mjs")).href)) as Judge;
  const makers = new Map<string, () => unknown>();
  for (const [name, changes] of Object.entries(VARIANTS)) makers.set(name, await variant(name, changes));
  const logs = new Map<string, number[]>();
  for (const name of only === "" ? WORKLOADS : only.split(",")) {
    const found = new Map<string, number[]>();
    for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
      const workload = workloadNamed(name)?.make(seed, traces);
      if (workload === undefined) throw new Error(`there is no workload "${name}"`);
      const parts = scenarioOf(workload);
      for (const [rule, make] of makers) {
        const { wmean } = judge.metrics(new judge.Engine({ ...parts, policy: make() }).run());
        found.set(rule, [...(found.get(rule) ?? []), wmean]);
      }
    }
    const usual = found.get("stint") ?? [];
    const cells = [...found].map(([rule, waits]) => {
      const ratios = waits.map((wait, i) => wait / (usual[i] ?? wait));
      const log = ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length;
      logs.set(rule, [...(logs.get(rule) ?? []), log]);
      const wins = ratios.filter((ratio) => ratio < 1).length;
      const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
      return rule === "stint"
        ? `stint ${mean.toFixed(1)}`
        : `${rule} ${mean.toFixed(1)} (${Math.exp(log).toFixed(3)}, ${wins}/${ratios.length})`;
    });
    console.log(`${name.padEnd(14)} ${cells.join("   ")}`);
  }
  for (const [rule, all] of logs) {
    console.log(`geometric mean ${rule}: ${Math.exp(all.reduce((sum, log) => sum + log, 0) / all.length).toFixed(3)}`);
  }
}

async function variant(name: string, changes: readonly Change[]): Promise<() => unknown> {
  let text = readFileSync(resolve(reference, "stint.mjs"), "utf8");
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the rule has changed: ${from}`);
    text = text.replace(from, to);
  }
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, text);
  const { stint } = (await import(pathToFileURL(file).href)) as { stint: () => unknown };
  return stint;
}

function scenarioOf(workload: Workload): object {
  const index = new Map(workload.models.map(({ name }, i) => [name, i]));
  const bands = { interactive: 0, normal: 1, batch: 2 } as const;
  return {
    models: workload.models.map((model) => ({
      name: model.name,
      load: model.loadMs / 1_000,
      unload: model.unloadMs / 1_000,
      solo: model.guessedWorkMs / 1_000,
      alpha: model.slowdownPerJob,
      K: model.concurrency,
      priority: model.priority,
    })),
    jobs: workload.arrivals.map((arrival) => {
      const m = index.get(arrival.model) ?? 0;
      const model = workload.models[m];
      const p = model === undefined ? 0 : workMsOf(model, arrival) / 1_000;
      return { t: arrival.atMs / 1_000, m, b: bands[bandOf(arrival.priority)], p, due: Number.POSITIVE_INFINITY };
    }),
    until: (workload.arrivals.at(-1)?.atMs ?? 0) / 1_000 + 12 * 3_600,
  };
}
