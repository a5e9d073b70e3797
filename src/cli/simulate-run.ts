// What `sir simulate` does. A shipped scenario prints its own lines; with policies or seeds, and for everything else, rules
// are compared in a table.

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { closest } from "../config/closest.ts";
import { CATALOGUE, missingFor, workloadNamed } from "../simulator/catalogue.ts";
import { compare } from "../simulator/comparison.ts";
import { comparisonTable, TABLE_NOTE } from "../simulator/comparison-table.ts";
import { entrantNamed, LINEUP } from "../simulator/lineup.ts";
import { isPreset, runPreset } from "../simulator/presets.ts";
import type { Source } from "../simulator/task.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

const SEEDS = 8;
const SEEDS_MAX = 1_000;
/** Where recorded traces are looked for, unless SIR_TRACES says. */
const TRACES = "../shared/traces";

export async function run(args: Readonly<Record<string, unknown>>, io: Io): Promise<ExitCode> {
  const name = String(args["what"]);
  const json = args["json"] === true;
  if (name === "list") return list(json, io);
  const plain = [args["policy"], args["seeds"], args["firstSeed"]].every((each) => each === undefined);
  if (plain && isPreset(name)) {
    const { text, reports } = await runPreset(name);
    io.out(json ? JSON.stringify({ object: "list", data: reports }) : text.trimEnd());
    return EXIT.done;
  }
  const tracesFolder = resolve(io.cwd, io.environment["SIR_TRACES"] ?? TRACES);
  const rows = await compare({
    sources: sourcesOf(name, words(args["workload"]), tracesFolder, io),
    policies: policiesOf(words(args["policy"])),
    seeds: seedsOf(args["seeds"], args["firstSeed"]),
    tracesFolder,
    threads: wholeNumber(args["threads"], "--threads", availableParallelism()),
    progress: ({ source, policy, seed }, score, done, of) =>
      io.err(
        `${String(done).padStart(String(of).length)}/${of}  ${source.name}  ${policy}  seed ${seed}  ` +
          `${score.weightedMeanWaitSeconds.toFixed(1)} s`,
      ),
  });
  io.out(json ? JSON.stringify(rows) : `${comparisonTable(rows)}\n\n${TABLE_NOTE}`);
  return EXIT.done;
}

function list(json: boolean, io: Io): typeof EXIT.done {
  const workloads = CATALOGUE.map(({ name, about, inSuite }) => ({ name, about, inSuite }));
  const policies = LINEUP.map(({ name, about, usual }) => ({ name, about, inSuite: usual }));
  const lines = (all: typeof workloads): string =>
    all.map(({ name, about, inSuite }) => `  ${inSuite ? "*" : " "} ${name.padEnd(24)} ${about}`).join("\n");
  io.out(
    json
      ? JSON.stringify({ workloads, policies })
      : `Workloads\n${lines(workloads)}\n\nPolicies and variants\n${lines(policies)}\n\n* in the suite`,
  );
  return EXIT.done;
}

function sourcesOf(name: string, only: readonly string[], tracesFolder: string, io: Io): Source[] {
  const suite = name === "suite";
  if (!suite && only.length > 0)
    throw new UsageError("--workload goes with suite; otherwise name the workloads first.");
  const names = suite
    ? only.length > 0
      ? only
      : CATALOGUE.filter(({ inSuite }) => inSuite).map((each) => each.name)
    : words(name);
  return names.flatMap((each): Source[] => {
    const named = workloadNamed(each);
    if (named === null) return [fileSource(each, io)];
    const missing = missingFor(named, tracesFolder);
    if (missing.length === 0) return [{ kind: "named", name: each, drawn: named.drawn }];
    const words = `${each}: left out, because recorded traces are not here (${missing.join(", ")}); set SIR_TRACES to their folder.`;
    if (!suite || only.length > 0) throw new UsageError(words);
    io.err(words);
    return [];
  });
}

function fileSource(name: string, io: Io): Source {
  const path = resolve(io.cwd, name);
  if (existsSync(path) && /[./]/.test(name)) return { kind: "file", name, path };
  const known = ["suite", "list", ...CATALOGUE.map((each) => each.name)];
  const near = closest(name, known);
  const hint = near === null ? `Known: ${known.join(", ")}, or a trace file.` : `Did you mean "${near}"?`;
  throw new UsageError(`There is no scenario "${name}". ${hint}`);
}

function policiesOf(names: readonly string[]): string[] {
  if (names.length === 0) return LINEUP.filter(({ usual }) => usual).map(({ name }) => name);
  for (const name of names) {
    if (entrantNamed(name) !== null) continue;
    const known = LINEUP.map((each) => each.name);
    const near = closest(name, known);
    const hint = near === null ? `Known: ${known.join(", ")}.` : `Did you mean "${near}"?`;
    throw new UsageError(`There is no policy "${name}". ${hint}`);
  }
  return [...names];
}

function seedsOf(count: unknown, first: unknown): number[] {
  const from = wholeNumber(first, "--first-seed", 1);
  const many = Math.min(wholeNumber(count, "--seeds", SEEDS), SEEDS_MAX);
  return Array.from({ length: many }, (_, i) => from + i);
}

function wholeNumber(typed: unknown, flag: string, otherwise: number): number {
  if (typed === undefined) return otherwise;
  const value = Number(typed);
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`${flag} needs a whole number from 1.`);
  return value;
}

function words(typed: unknown): string[] {
  return typed === undefined
    ? []
    : String(typed)
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== "");
}
