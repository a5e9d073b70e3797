// The page as files beside the built router, made once for each state of its sources.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtCli } from "../e2e/built.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Builds it where the router of `builtCli` serves it from, unless it is there already. */
export function buildPage(): void {
  const page = join(dirname(builtCli()), "dashboard");
  if (builtAtMs(page) > newestMs(join(root, "dashboard"))) return;
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const words = [
    "build",
    "--config",
    "dashboard/vite.config.ts",
    "--logLevel",
    "warn",
    "--outDir",
    page,
    "--emptyOutDir",
  ];
  // Vitest's own NODE_ENV would make it a build for developers, and a tenth larger.
  const env = { ...process.env, NODE_ENV: "production" };
  const { status, stderr } = spawnSync(process.execPath, [vite, ...words], { cwd: root, encoding: "utf8", env });
  if (status !== 0) throw new Error(`the dashboard does not build: ${stderr}`);
}

function builtAtMs(page: string): number {
  const index = join(page, "index.html");
  return existsSync(index) ? statSync(index).mtimeMs : 0;
}

function newestMs(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Math.max(...files.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs));
}
