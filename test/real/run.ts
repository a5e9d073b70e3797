// `npm run test:real`: the router over real engines that it installs itself, by hand and not in CI. What it shows, it
// prints, and writes as markdown.
//
//   npm run test:real -- [--only llama|vllm|vllm-sleep]... [--cache FOLDER] [--report FILE]

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runLlama } from "./llama.ts";
import { createReport, type Report } from "./report.ts";
import { closeSites } from "./site.ts";
import { runVllm, runVllmSleep } from "./vllm.ts";

const PARTS: Readonly<Record<string, (cache: string, folder: string, report: Report) => Promise<void>>> = {
  llama: runLlama,
  vllm: runVllm,
  "vllm-sleep": runVllmSleep,
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      cache: { type: "string", default: join(tmpdir(), "sir-real-engines") },
      report: { type: "string" },
    },
  });
  const names = values.only ?? Object.keys(PARTS);
  const unknown = names.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is ${Object.keys(PARTS).join(", ")}`);
  const cache = resolve(values.cache);
  mkdirSync(cache, { recursive: true });
  const report = createReport();
  report.seen(machine());
  const folder = mkdtempSync(join(tmpdir(), "sir-real-run-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const name of names) await runPart(name, cache, folder, report);
  const file = resolve(values.report ?? join(cache, "report.md"));
  writeFileSync(file, report.markdown());
  console.log(`\nwritten to ${file}`);
  return report.failures === 0 ? 0 : 1;
}

async function runPart(name: string, cache: string, folder: string, report: Report): Promise<void> {
  try {
    await PARTS[name]?.(cache, folder, report);
  } catch (error) {
    report.failed(error instanceof Error ? error.message : String(error));
  }
}

function machine(): string {
  const when = new Date().toISOString().slice(0, 16).replace("T", " ");
  const [load = 0] = loadavg();
  return `${when} UTC, Node ${process.version}, ${availableParallelism()} processors, no GPU, load average ${load.toFixed(1)}`;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    void closeSites().finally(() => process.exit(130));
  });
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
