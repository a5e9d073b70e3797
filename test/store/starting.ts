// Routers' starts in processes of their own.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { builtWriter } from "./on-file.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Runs a script of this folder and reads the JSON line it prints. */
export function runScript(
  name: string,
  args: readonly string[],
  identity: { uid?: number; gid?: number } = {},
): Promise<unknown> {
  const argv = ["--import", "tsx", resolve(import.meta.dirname, name), ...args];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], ...identity });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => {
      if (output === "") fail(new Error(`${name} printed nothing and ended with ${code}: ${errors}`));
      else done(JSON.parse(output));
    });
  });
}

/** Opens a store in a directory its user may read and not write. Root may write anywhere, so it becomes somebody else. */
export async function startAsNobody(directory: string): Promise<unknown> {
  mkdirSync(directory);
  chmodSync(resolve(directory, ".."), 0o755);
  chmodSync(directory, 0o555);
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  return runScript("open-once.ts", [directory, (await builtWriter()).href], identity);
}
