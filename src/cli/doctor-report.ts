// What `sir doctor` does: it runs every check there is, and prints what was found with the values in force.

import { loadConfig } from "../config/load.ts";
import { type Explained, originText } from "../config/origin.ts";
import { ConfigError } from "../config/problem.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import type { Check } from "./check.ts";
import type { Io } from "./command.ts";
import { flagsFrom } from "./config-args.ts";
import { checkConfig, checkNode, checkProblems } from "./doctor-config.ts";
import { checkDisk } from "./doctor-disk.ts";
import { checkEngines } from "./doctor-engines.ts";
import { checkGuesses, checkMachine } from "./doctor-machine.ts";
import { checkPort } from "./doctor-port.ts";
import { checkStore } from "./doctor-store.ts";
import { checkWebhooks } from "./doctor-webhooks.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { paint } from "./paint.ts";

interface Diagnosis {
  readonly checks: readonly Check[];
  readonly values: readonly Explained[];
}

export async function report(args: Readonly<Record<string, unknown>>, io: Io): Promise<ExitCode> {
  const diagnosis = await diagnose(args, io);
  const sick = diagnosis.checks.some(({ level }) => level === "error");
  io.out(args["json"] === true ? asJson(diagnosis, !sick) : asText(diagnosis, args["defaults"] === true, io));
  return sick ? EXIT.fault : EXIT.done;
}

async function diagnose(args: Readonly<Record<string, unknown>>, io: Io): Promise<Diagnosis> {
  const node = checkNode(process.versions.node);
  let config: ResolvedConfig;
  try {
    config = await loadConfig({ cwd: io.cwd, environment: io.environment, flags: flagsFrom(args) });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { checks: [node, ...checkProblems(error.problems)], values: [] };
  }
  const { dataDir } = config.store;
  const surroundings = { environment: io.environment, platform: process.platform, arch: process.arch, root: "" };
  const checks = [
    node,
    ...checkConfig(config),
    ...checkGuesses(config),
    ...(dataDir === null ? [] : checkDisk(dataDir)),
    ...checkStore(config),
    await checkPort(config.server, surroundings),
    ...(await checkMachine(config, surroundings)),
    ...(await checkEngines(config, io.clock)),
    ...(await checkWebhooks(config)),
  ];
  return { checks, values: config.values };
}

function asJson({ checks, values }: Diagnosis, healthy: boolean): string {
  const shown = values.map(({ path, value, origin }) => ({ path, value: value ?? null, origin: originText(origin) }));
  return JSON.stringify({ ok: healthy, checks, values: shown }, null, 2);
}

const LEVELS = { ok: "ok   ", warn: "warn ", error: "ERROR" } as const;

function asText({ checks, values }: Diagnosis, all: boolean, io: Io): string {
  const width = Math.min(30, Math.max(...checks.map(({ id }) => id.length)));
  const lines = checks.flatMap(({ id, level, text, mend }) => [
    `${paint(LEVELS[level], level, io.color)} ${id.padEnd(width)} ${text}`,
    ...(mend === null ? [] : [`      ${"".padEnd(width)} mend: ${mend}`]),
  ]);
  const count = (level: Check["level"], word: string): string => {
    const found = checks.filter((check) => check.level === level).length;
    return `${found} ${word}${found === 1 ? "" : "s"}`;
  };
  return [...lines, ...(all ? table(values) : []), "", `${count("error", "error")}, ${count("warn", "warning")}`].join(
    "\n",
  );
}

function table(values: readonly Explained[]): string[] {
  if (values.length === 0) return [];
  const rows = values.map(
    ({ path, value, origin }) => [path, JSON.stringify(value) ?? "-", originText(origin)] as const,
  );
  const width = (column: 0 | 1): number => Math.min(70, Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map(([path, value, origin]) => `  ${path.padEnd(width(0))}  ${value.padEnd(width(1))}  ${origin}`);
  return ["", "values in force, and where each came from:", ...lines];
}
