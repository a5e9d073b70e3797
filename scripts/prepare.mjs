// npm runs this after an install from source. It builds when the compiler is there; without it, an installed package
// that already has its dist is left alone.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The compiler's entry file, or null when development dependencies are not installed. */
function compiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
    return join(dirname(manifest), "bin", "tsc");
  } catch {
    return null;
  }
}

const tsc = compiler();
if (tsc !== null && existsSync(join(root, "tsconfig.build.json"))) {
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  process.exitCode = status ?? 1;
} else if (!existsSync(join(root, "dist", "cli.js"))) {
  // No failure: an image may install before it copies a dist that was built elsewhere.
  console.warn("sir-router: not built, because typescript is missing. Run `npm ci` with development dependencies.");
}
