// Where the configuration is written: never over one that somebody wrote. The example that is shipped is set aside.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../config/load.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import { type Io, UsageError } from "./command.ts";

const NAMES = ["sir.config.ts", "sir.config.js", "sir.config.mjs", "sir.config.json"] as const;
const TARGET = "sir.config.ts";
const BESIDE = "sir.config.new.ts";
const ASIDE = "sir.config.example.ts";
const EXAMPLE = /^\/\/ The shipped configuration: /;
const MOST_DIFFERENCES = 12;

export interface Placed {
  /** Name in the working directory. */
  readonly name: string;
  /** What was there before and what became of it, in lines; empty when nothing was. */
  readonly notes: readonly string[];
}

export async function placeConfig(text: string, force: boolean, io: Io): Promise<Placed> {
  const there = NAMES.find((name) => existsSync(join(io.cwd, name)));
  if (there === undefined || (force && there === TARGET)) return put(TARGET, text, io, []);
  if (there === TARGET && (await isExample(io))) {
    renameSync(join(io.cwd, TARGET), join(io.cwd, ASIDE));
    return put(TARGET, text, io, [`The shipped example was moved to ${ASIDE}.`]);
  }
  if (force) return put(TARGET, text, io, [`${there} is still there; ${TARGET} is read before it.`]);
  put(BESIDE, text, io, []);
  const differences = await differencesOf(there, io);
  const lines = differences.length === 0 ? ["  in comments only"] : differences.map((line) => `  ${line}`);
  const shown = lines.slice(0, MOST_DIFFERENCES);
  const more = lines.length > shown.length ? [`  and ${lines.length - shown.length} more`] : [];
  const rest = `Rename it when you are content, or try it: npx sir serve --config ${BESIDE}`;
  return {
    name: BESIDE,
    notes: [`${there} is there and was left as it is. ${BESIDE} differs from it:`, ...shown, ...more, rest],
  };
}

function put(name: string, text: string, io: Io, notes: readonly string[]): Placed {
  write(join(io.cwd, name), text);
  return { name, notes };
}

/** @throws {UsageError} in words: the folder is the caller's choice */
function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new UsageError(
      `${path} cannot be written (${code}). Go to a folder that this user may write, or name a file.`,
    );
  }
}

/** Where another name was asked for: written as it is, over nothing unless that was asked for too. */
export function placeAt(path: string, text: string, force: boolean): boolean {
  if (existsSync(path) && !force) return false;
  write(path, text);
  return true;
}

/** Ours, untouched in kind: mock engines only. */
async function isExample(io: Io): Promise<boolean> {
  const file = join(io.cwd, TARGET);
  if (!EXAMPLE.test(readFileSync(file, "utf8"))) return false;
  const config = await load(TARGET, io).catch(() => null);
  return config?.backends.every(({ driver }) => driver.name === "mock") === true;
}

const load = (name: string, io: Io): Promise<ResolvedConfig> =>
  loadConfig({ cwd: io.cwd, environment: {}, flags: { config: join(io.cwd, name) } });

async function differencesOf(there: string, io: Io): Promise<string[]> {
  const fresh = await load(BESIDE, io);
  const old = await load(there, io).catch(() => null);
  if (old === null) return [`${there} cannot be read: sir doctor says why`];
  const names = (config: ResolvedConfig): string[] => config.engine.models.map(({ name }) => String(name));
  const added = names(fresh).filter((name) => !names(old).includes(name));
  const missing = names(old).filter((name) => !names(fresh).includes(name));
  const changed = fresh.values
    .filter(({ path }) => ![...added, ...missing].some((name) => path.includes(name)))
    .flatMap(({ path, value }) => {
      const before = old.values.find((each) => each.path === path);
      if (before === undefined || JSON.stringify(before.value) === JSON.stringify(value)) return [];
      return [`${path} is ${JSON.stringify(value)}, there ${JSON.stringify(before.value)}`];
    });
  return [
    ...(added.length === 0 ? [] : [`has besides: ${added.join(", ")}`]),
    ...(missing.length === 0 ? [] : [`does not have: ${missing.join(", ")}`]),
    ...changed,
  ];
}
