// npm runs this after an install from source. It builds when the compiler is there; without it, an installed package
// that already has its dist is left alone.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The entry file of a development dependency's command, or null when it is not installed. */
function command(name, ...path) {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), ...path);
  } catch {
    return null;
  }
}

const tsc = command("typescript", "bin", "tsc");
const vite = command("vite", "bin", "vite.js");

function run(...words) {
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = status ?? 1;
}

if (tsc !== null && existsSync(join(root, "tsconfig.build.json"))) {
  run(tsc, "-p", "tsconfig.build.json");
  // npm marks the command of an installed package, but not a clone's own: without this `npx sir` is refused.
  if (existsSync(join(root, "dist", "cli.js"))) chmodSync(join(root, "dist", "cli.js"), 0o755);
  if (vite !== null) run(vite, "build", "--config", "dashboard/vite.config.ts", "--logLevel", "warn");
} else if (!existsSync(join(root, "dist", "cli.js"))) {
  // No failure: an image may install before it copies a dist that was built elsewhere.
  console.warn("sir-router: not built, because typescript is missing. Run `npm ci` with development dependencies.");
}
