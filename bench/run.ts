// `npm run bench`: every bench after the other, or those that are named; figures on standard output, progress on
// standard error. README.md beside this file says how they are taken and how to read them.
//
//   npm run bench -- [--only NAME]... [--json] [--folder PATH]

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { acceptBench } from "./accept.ts";
import { batchesBench } from "./batches.ts";
import { childPids } from "./children.ts";
import { dashboardsBench } from "./dashboards.ts";
import { decideBench } from "./decide.ts";
import { explainBench } from "./explain.ts";
import { type Bench, type Figure, isMet, lineOf } from "./figure.ts";
import { largeBodiesBench } from "./large-bodies.ts";
import { describeMachine, type Machine, watchOthers } from "./machine.ts";
import { pageBench } from "./page.ts";
import { passThroughBench } from "./pass-through.ts";
import { pollBench } from "./poll.ts";
import { preloadBench } from "./preload.ts";
import { ratioBench } from "./ratio.ts";
import { scanBench } from "./scan.ts";
import { storeBench } from "./store.ts";

const BENCHES: readonly Bench[] = [
  storeBench,
  acceptBench,
  pollBench,
  decideBench,
  passThroughBench,
  largeBodiesBench,
  scanBench,
  batchesBench,
  dashboardsBench,
  pageBench,
  explainBench,
  preloadBench,
  ratioBench,
];

interface Report {
  readonly name: string;
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly tookSeconds: number;
  /** Of the machine's CPU, in percent; null where that cannot be known. */
  readonly usedByOthers: number | null;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      folder: { type: "string", default: ".tmp" },
    },
  });
  const chosen = choose(values.only);
  const parent = resolve(values.folder);
  mkdirSync(parent, { recursive: true });
  const machine = describeMachine(parent);
  const say = values.json ? () => undefined : (line: string) => console.log(line);
  say(headingOf(machine));
  const reports: Report[] = [];
  for (const bench of chosen) {
    const report = await runOne(bench, parent);
    reports.push(report);
    say(`\n${textOf(report)}`);
  }
  const missed = reports.flatMap(({ figures }) => figures).filter((figure) => !isMet(figure));
  if (values.json) console.log(JSON.stringify({ machine, benches: reports, missed: missed.length }, null, 2));
  else
    say(
      missed.length === 0
        ? "\nEvery bar is met."
        : `\n${missed.length} missed: ${missed.map(({ name }) => name).join("; ")}`,
    );
  process.exit(missed.length === 0 ? 0 : 1);
}

function choose(names: readonly string[]): readonly Bench[] {
  const known = BENCHES.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`There is no bench "${unknown.join(", ")}". There are: ${known.join(", ")}.`);
  return names.length === 0 ? BENCHES : BENCHES.filter(({ name }) => names.includes(name));
}

async function runOne(bench: Bench, parent: string): Promise<Report> {
  const folder = mkdtempSync(join(parent, `bench-${bench.name}-`));
  const fromMs = performance.now();
  const others = watchOthers(childPids);
  const progress = (text: string): void => void process.stderr.write(`${bench.name}: ${text}\n`);
  try {
    const figures = await bench.run({ folder, progress });
    const tookSeconds = Math.round((performance.now() - fromMs) / 1_000);
    return { name: bench.name, title: bench.title, figures, tookSeconds, usedByOthers: others() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function headingOf(machine: Machine): string {
  const { date, commit, processor, memoryGiB, system, fileSystem, node, loadAverage, turn } = machine;
  const nice = turn === "normal" ? "" : `, scheduled as ${turn}`;
  return [
    `sir bench   ${date} UTC   commit ${commit}`,
    `${processor}, ${memoryGiB} GiB, ${system}, ${fileSystem}, node ${node}, load average ${loadAverage}${nice}`,
  ].join("\n");
}

function textOf({ name, title, figures, tookSeconds, usedByOthers }: Report): string {
  const others = usedByOthers === null ? "" : `, others used ${Math.round(usedByOthers)}% of the CPU`;
  return [`${name}: ${title} (${tookSeconds} s${others})`, ...figures.map(lineOf)].join("\n");
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  process.exit(2);
});
