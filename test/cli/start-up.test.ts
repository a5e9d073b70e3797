// What must be read from disk before a command's flags are known: a help and a shell's completion wait for all of it.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("../../src/cli/", import.meta.url));
/** Imports that run before the file does; those of types alone are gone by then. */
const STATIC = /^(?:import|export) (?!type\b)(?:[^;"]*? from )?"([^"]+)"/gm;

/** By package or built-in module: through which files it is reached. */
function reached(start: string): Map<string, string> {
  const outside = new Map<string, string>();
  const seen = new Set<string>();
  const walk = (file: string, road: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(STATIC)) {
      if (name.startsWith(".")) walk(resolve(dirname(file), name), `${road} > ${name}`);
      else if (!outside.has(name)) outside.set(name, road);
    }
  };
  walk(resolve(cli, start), start);
  return outside;
}

const packagesOf = (start: string): string[] =>
  [...reached(start)].filter(([name]) => !name.startsWith("node:")).map(([name, road]) => `${name}: ${road}`);

const listed = readFileSync(resolve(cli, "command-list.ts"), "utf8");
const commandFiles = [...new Set([...listed.matchAll(/import\("\.\/([a-z-]+\.ts)"\)/g)].map(([, file = ""]) => file))];

describe("starting up", () => {
  it("reads nobody's package to know a command's flags", () => {
    expect(commandFiles.length).toBeGreaterThan(15);
    expect(commandFiles.flatMap(packagesOf)).toEqual([]);
  });

  it("reads nobody's package to complete a word", () => {
    expect(["../cli.ts", "complete.ts"].flatMap(packagesOf)).toEqual([]);
  });
});
