// What probes see of the machine: environment, platform, files below a root, programs on the PATH. A test gives its own.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * For one answer, of a program or a server. An engine that loads a model leaves little of the machine: one that answers
 * late must not be taken for another kind. A port where nobody listens says so at once.
 */
export const PROBE_MS = 3_000;
const OUTPUT_BYTES = 1024 * 1024;

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly arch: string;
  /** Before the paths of the system's files; empty but in tests. */
  readonly root: string;
}

/** What it printed; null when it is not there, failed, or took too long. */
export function outputOf(
  program: string,
  args: readonly string[],
  { environment }: Surroundings,
): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env: environment, timeout: PROBE_MS, maxBuffer: OUTPUT_BYTES, killSignal: "SIGKILL" as const };
    execFile(program, [...args], options, (error, stdout) => resolve(error === null ? stdout : null));
  });
}

/** A small file of the system; null when it cannot be read. */
export function systemFile(path: string, { root }: Surroundings): string | null {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return null;
  }
}

/** Names in a folder of the system; none when it cannot be read. */
export function systemFolder(path: string, { root }: Surroundings): readonly string[] {
  try {
    return readdirSync(join(root, path));
  } catch {
    return [];
  }
}

/** MemTotal; null where there is no such file. */
export function mainMemoryBytes(surroundings: Surroundings): number | null {
  const kib = /^MemTotal:\s+(\d+) kB/m.exec(systemFile("/proc/meminfo", surroundings) ?? "")?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** The arguments of every process that may be looked at. */
export function commandLines(surroundings: Surroundings): readonly (readonly string[])[] {
  return systemFolder("/proc", surroundings)
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => (systemFile(`/proc/${pid}/cmdline`, surroundings) ?? "").split("\0").filter((word) => word !== ""))
    .filter((words) => words.length > 0);
}

/** The value of `--flag value` or `--flag=value`, for the first of several spellings that is there. */
export function flagValue(words: readonly string[], flags: readonly string[]): string | null {
  for (const [at, word] of words.entries()) {
    if (flags.includes(word)) return words[at + 1] ?? null;
    const flag = flags.find((each) => word.startsWith(`${each}=`));
    if (flag !== undefined) return word.slice(flag.length + 1);
  }
  return null;
}
