// Finds the configuration file. Cheap: many commands look whether there is one, and few read it.

import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "./problem.ts";

const NAMES = ["sir.config.ts", "sir.config.js", "sir.config.mjs", "sir.config.json"] as const;

export interface Found {
  readonly file: string;
  /** What relative paths in it are relative to. */
  readonly baseDir: string;
}

/** This package's own folder: the file with its package.json, seen from src/config and from dist/config alike. */
const packageDir = (): string => fileURLToPath(new URL("../..", import.meta.url));

/** The file that a folder holds; null: none. */
export function configIn(dir: string): string | null {
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
    const inside = configIn(file);
    if (inside === null) {
      throw new ConfigError(file, [{ path: "", text: "The folder holds no sir.config.ts.", mend: "Name a file." }]);
    }
    return { file: inside, baseDir: file };
  }
  const here = configIn(cwd);
  if (here !== null) return { file: here, baseDir: cwd };
  const shipped = configIn(packageDir());
  if (shipped !== null) return { file: shipped, baseDir: cwd };
  throw new ConfigError(null, [
    { path: "", text: `No sir.config.ts in ${cwd}.`, mend: "Write one, or name it with --config." },
  ]);
}
