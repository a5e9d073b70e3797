// Whether a configuration that a command wrote is one that a person would have: the compiler takes it, the formatter would
// not touch it, and the doctor finds nothing wrong.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { terminal } from "./terminal.ts";

const projectRoot = fileURLToPath(new URL("../../", import.meta.url));

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sir-generated-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What the compiler says of files that import `sir-router`; empty when it is content. Takes some ten seconds. */
export function typeFaults(texts: Readonly<Record<string, string>>): string {
  const folder = tempFolder();
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "configs"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, "configs", `${name}.ts`), text);
  const tsconfig = { extends: join(projectRoot, "tsconfig.json"), include: ["configs"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" }).stdout;
}

/** As the project's formatter would have it. */
export function formatted(text: string): string {
  const biome = join(projectRoot, "node_modules/.bin/biome");
  const args = ["format", "--stdin-file-path=sir.config.ts"];
  return execFileSync(biome, args, { cwd: projectRoot, input: text, encoding: "utf8" });
}

interface Report {
  readonly ok: boolean;
  readonly checks: { id: string; level: string; text: string; mend: string | null }[];
}

/** What the doctor finds in the folder's configuration, and its exit status. */
export async function examined(cwd: string, ...flags: string[]): Promise<Report & { code: number }> {
  const { run, out } = terminal({ cwd });
  const code = await run("doctor", "--json", ...flags);
  return { code, ...(JSON.parse(out()) as Report) };
}
