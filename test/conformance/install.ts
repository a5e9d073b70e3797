// The clients, installed as their locks say: npm's beside this file, Python's in environments of their own. What cannot
// be had is named, not passed over.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtCli } from "../e2e/built.ts";

const runs = promisify(execFile);

const here = fileURLToPath(new URL(".", import.meta.url));
const UV = "uv==0.13.9";

export interface Installed {
  readonly node20: string;
  readonly node24: string;
  readonly bun: string;
  readonly deno: string;
  /** Interpreters by the name of their lock. */
  readonly pythons: Readonly<Record<string, string>>;
  /** Why the others are missing; null when none is. */
  readonly missing: string | null;
}

export async function install(): Promise<Installed> {
  await packages();
  const bin = (...path: string[]): string => join(here, "node_modules", ...path);
  const base = {
    node20: process.execPath,
    node24: bin("node", "bin", "node"),
    bun: bin("bun", "bin", "bun.exe"),
    deno: bin("deno", "deno"),
  };
  try {
    const names = ["openai2", "openai3", "litellm"];
    const uv = await uvIn(join(here, ".venvs"));
    const found: Record<string, string> = {};
    for (const name of names) found[name] = await environment(uv, name);
    return { ...base, pythons: found, missing: null };
  } catch (error) {
    return { ...base, pythons: {}, missing: error instanceof Error ? error.message : String(error) };
  }
}

async function packages(): Promise<void> {
  const modules = join(here, "node_modules");
  const done = join(modules, ".sir-lock");
  const lock = digest(readFileSync(join(here, "package-lock.json"), "utf8"));
  if (!existsSync(done) || readFileSync(done, "utf8") !== lock) {
    await runs("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: here });
    writeFileSync(done, lock);
  }
  // The product as its users have it: its package.json and dist.
  const link = join(modules, "sir-router");
  rmSync(link, { force: true });
  symlinkSync(dirname(dirname(builtCli())), link);
}

/** uv takes seconds for what takes pip minutes. */
async function uvIn(folder: string): Promise<string> {
  const uv = join(folder, digest(UV), "bin", "uv");
  if (existsSync(uv)) return uv;
  mkdirSync(folder, { recursive: true });
  await runs("python3", ["-m", "venv", join(folder, digest(UV))]);
  await runs(join(dirname(uv), "pip"), ["install", "--quiet", "--disable-pip-version-check", UV]);
  return uv;
}

async function environment(uv: string, name: string): Promise<string> {
  const lock = join(here, "python", `${name}.txt`);
  const folder = join(here, ".venvs", `${name}-${digest(readFileSync(lock, "utf8"))}`);
  const python = join(folder, "bin", "python");
  const done = join(folder, "complete");
  if (existsSync(done)) return python;
  await runs(uv, ["venv", "--quiet", "--clear", "--python", "python3", folder]);
  await runs(uv, ["pip", "install", "--quiet", "--no-deps", "--python", python, "-r", lock]);
  writeFileSync(done, "");
  return python;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
