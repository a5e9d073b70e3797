// Finds the configuration file and reads it. TypeScript, JavaScript and JSON alike; `sir-router` means this package,
// wherever the file lies.

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";
import { defineDriver } from "../backends/backend.ts";
import { definePolicy } from "../scheduler/policy.ts";
import { defineConfig } from "./define.ts";
import { ConfigError } from "./problem.ts";

const NAMES = ["sir.config.ts", "sir.config.js", "sir.config.mjs", "sir.config.json"] as const;

export interface Found {
  readonly file: string;
  /** What relative paths in it are relative to. */
  readonly baseDir: string;
}

/** This package's own folder: the file with its package.json, seen from src/config and from dist/config alike. */
const packageDir = (): string => fileURLToPath(new URL("../..", import.meta.url));

function inDir(dir: string): string | null {
  for (const name of NAMES) {
    const file = join(dir, name);
    if (existsSync(file)) return file;
  }
  return null;
}

/**
 * `explicit` (a flag or SIR_CONFIG), else the working directory, else the file this package ships. Paths in the shipped
 * file are relative to the working directory, so that nothing is written into an installed package.
 * @throws {ConfigError} when an explicit file is not there
 */
export function findConfig(explicit: string | null, cwd: string): Found {
  if (explicit !== null) {
    const file = resolve(cwd, explicit);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) {
      throw new ConfigError(file, [
        { path: "", text: "There is no such file.", mend: "Check --config and SIR_CONFIG." },
      ]);
    }
    if (!stat.isDirectory()) return { file, baseDir: dirname(file) };
    const inside = inDir(file);
    if (inside === null) {
      throw new ConfigError(file, [{ path: "", text: "The folder holds no sir.config.ts.", mend: "Name a file." }]);
    }
    return { file: inside, baseDir: file };
  }
  const here = inDir(cwd);
  if (here !== null) return { file: here, baseDir: cwd };
  const shipped = inDir(packageDir());
  if (shipped !== null) return { file: shipped, baseDir: cwd };
  throw new ConfigError(null, [
    { path: "", text: `No sir.config.ts in ${cwd}.`, mend: "Write one, or name it with --config." },
  ]);
}

/**
 * The file's default export. Read afresh each time.
 * @throws {ConfigError} with file and line when it does not parse or throws
 */
export async function readConfigFile(file: string): Promise<unknown> {
  let value: unknown;
  try {
    value = file.endsWith(".json") ? JSON.parse(readFileSync(file, "utf8")) : await importFresh(file);
  } catch (error) {
    throw new ConfigError(
      file,
      [{ path: "", text: causeText(error, file), mend: "Mend the file and try again." }],
      error,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const mend = "Write `export default defineConfig({ … })`.";
    throw new ConfigError(file, [{ path: "", text: "It has no default export that is an object.", mend }]);
  }
  return value;
}

function importFresh(file: string): Promise<unknown> {
  const jiti = createJiti(import.meta.url, {
    moduleCache: false,
    fsCache: false,
    virtualModules: { "sir-router": { defineConfig, defineDriver, definePolicy } },
  });
  return jiti.import(file, { default: true });
}

/** The message, and where in the file it happened, if the error says so. */
function causeText(error: unknown, file: string): string {
  if (!(error instanceof Error)) return "It threw something that is not an Error.";
  const message = (error.message.split("\n")[0] ?? "").trim().replace(/\.$/, "");
  const place = placeIn(error, file);
  return `${error.name}${place === null ? "" : ` at line ${place.line}, column ${place.column}`}: ${message}.`;
}

function placeIn(error: Error, file: string): { line: number; column: number } | null {
  const offset = /at position (\d+)/.exec(error.message);
  if (error instanceof SyntaxError && offset !== null && file.endsWith(".json")) {
    const before = readFileSync(file, "utf8").slice(0, Number(offset[1])).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
  const stack = error.stack ?? "";
  const at = stack.indexOf(`${file}:`);
  const place = at < 0 ? null : /^:(\d+):(\d+)/.exec(stack.slice(at + file.length));
  return place === null ? null : { line: Number(place[1]), column: Number(place[2]) };
}
