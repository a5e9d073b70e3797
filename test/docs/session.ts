// A page's shell blocks as one session, in a folder like a fresh clone: `npm` and `npx sir` are this very build, and the
// port in the page is a free one.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtCli } from "../e2e/built.ts";
import { tempFolder } from "../e2e/process.ts";
import type { Block } from "./blocks.ts";

const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
const DEADLINE_MS = 100_000;
const MARK = "@@ block ";
/** What moves a cursor or colours: escape sequences, and lines that were overwritten in place. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own signs
const CONTROL = /\u001b\[[0-9;?]*[A-Za-z]|[^\n]*\r(?!\n)|\r/g;

export interface Session {
  /** What each block printed, standard error too, by its line in the page. */
  readonly printed: ReadonlyMap<number, string>;
  /** The line of the block that failed; null: none did. */
  readonly failedAt: number | null;
  readonly log: string;
}

export async function runPage(blocks: readonly Block[]): Promise<Session> {
  const folder = tempFolder();
  const port = await freePort();
  mkdirSync(join(folder, "deploy"));
  copyFileSync(join(projectRoot, "sir.config.ts"), join(folder, "sir.config.ts"));
  const script = join(folder, ".page.sh");
  writeFileSync(script, [PRELUDE, ...blocks.map((block) => step(block, port)), "exit 0"].join("\n"));
  const { SIR_URL: _, NODE_OPTIONS: __, ...own } = process.env;
  const environment = {
    ...own,
    SIR_CLI: builtCli(),
    SIR_PORT: String(port),
    SIR_URL: `http://127.0.0.1:${port}`,
    NO_COLOR: "1",
  };
  const { code, log } = await bash(script, folder, environment);
  rmSync(folder, { recursive: true, force: true });
  return { ...read(log, blocks), ...(code === 0 ? { failedAt: null } : {}), log };
}

/** Ends what it started, and only that. */
const PRELUDE = `
set -euo pipefail
started=()
finish() { for pid in "\${started[@]:-}"; do [ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done; true; }
trap finish EXIT
npm() {
  case "$1" in
    ci | install) true ;;
    start) node "$SIR_CLI" serve ;;
    *) echo "not for a page: npm $*"; return 1 ;;
  esac
}
npx() { [ "$1" = sir ] || { echo "not for a page: npx $*"; return 1; }; shift; node "$SIR_CLI" "$@"; }
sir() { node "$SIR_CLI" "$@"; }
ready() { for _ in $(seq 200); do curl -sf -o /dev/null "$SIR_URL/healthz" && return; sleep 0.1; done; cat serve.log; return 1; }
`;

function step({ line, text, kind }: Block, port: number): string {
  const body = text.replaceAll("127.0.0.1:8000", `127.0.0.1:${port}`).replaceAll("localhost:8000", `127.0.0.1:${port}`);
  if (kind !== "serve") return `echo "${MARK}${line}"\n${body}`;
  // The function would leave a shell between the script and the router; a signal has to reach the router itself.
  const command = body
    .replaceAll(/npm ci( && )?/g, "true$1")
    .replaceAll(/\b(npx sir|npm start)\b/g, (word) =>
      word === "npm start" ? 'exec node "$SIR_CLI" serve' : 'exec node "$SIR_CLI"',
    );
  return `echo "${MARK}${line}"\n( ${command}\n) > serve.log 2>&1 &\nstarted+=($!)\nready`;
}

function read(log: string, blocks: readonly Block[]): { printed: Map<number, string>; failedAt: number | null } {
  const printed = new Map<number, string>();
  for (const part of log.split(MARK).slice(1))
    printed.set(Number.parseInt(part, 10), part.slice(part.indexOf("\n") + 1));
  return { printed, failedAt: [...printed.keys()].at(-1) ?? blocks[0]?.line ?? 0 };
}

function bash(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; log: string }> {
  return new Promise((resolve) => {
    // A terminal, because that is what a reader sits before.
    const typed = `stty cols 120 rows 40 -onlcr; exec bash ${script}`;
    const child = spawn("script", ["-qefc", typed, "/dev/null"], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    child.stdout.on("data", (bytes) => (log += String(bytes)));
    child.stderr.on("data", (bytes) => (log += String(bytes)));
    const limit = setTimeout(() => child.kill("SIGTERM"), DEADLINE_MS);
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve({ code, log: log.replaceAll(CONTROL, "") });
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
