// Where the command line lies as JavaScript: `dist` where it is newer than the sources, else a build of this very source
// in the temp folder, made once for each state of the sources. A child started from it costs a third of one under tsx.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const projectRoot = fileURLToPath(new URL("../../", import.meta.url));

const KEEP_MS = 3_600_000;

function sourceFiles(): string[] {
  const files = readdirSync(join(projectRoot, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return [...files, join(projectRoot, "package.json")].sort();
}

/** The path of `cli.js`; `SIR_TEST_CLI` names another build, e.g. that of an installed package. */
export function builtCli(): string {
  const given = process.env["SIR_TEST_CLI"];
  if (given !== undefined) return given;
  const files = sourceFiles().map((path) => ({ path, changedMs: statSync(path).mtimeMs }));
  const dist = join(projectRoot, "dist", "cli.js");
  const newest = Math.max(...files.map(({ changedMs }) => changedMs));
  if (existsSync(dist) && statSync(dist).mtimeMs > newest) return dist;
  const key = createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
  const home = join(tmpdir(), "sir-built");
  const built = join(home, key);
  if (!existsSync(built)) build(home, built);
  return join(built, "dist", "cli.js");
}

function build(home: string, target: string): void {
  mkdirSync(home, { recursive: true });
  for (const old of readdirSync(home).map((name) => join(home, name))) {
    if (Date.now() - statSync(old).mtimeMs > KEEP_MS) rmSync(old, { recursive: true, force: true });
  }
  const draft = mkdtempSync(join(home, "draft-"));
  const tsc = join(projectRoot, "node_modules", "typescript", "bin", "tsc");
  const options = ["-p", "tsconfig.build.json", "--noCheck", "--declaration", "false", "--outDir", join(draft, "dist")];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options], { cwd: projectRoot, encoding: "utf8" });
  if (status !== 0) throw new Error(`the sources do not build: ${stdout}`);
  cpSync(join(projectRoot, "package.json"), join(draft, "package.json"));
  for (const folder of ["migrations", "node_modules"]) symlinkSync(join(projectRoot, folder), join(draft, folder));
  try {
    renameSync(draft, target);
  } catch {
    // Another test file was faster; its build is the same.
    rmSync(draft, { recursive: true, force: true });
  }
}
