// The processes that a bench starts: a router as it is shipped, built from these sources, and small scripts beside it.
// None of them outlives the bench.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtCli } from "../test/e2e/built.ts";
import { cpuMsOf, mainThreadMsOf, residentMiBOf } from "./machine.ts";

const START_MS = 120_000;
const running = new Set<ChildProcess>();

process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Of the children that run now. */
export function childPids(): readonly number[] {
  return [...running].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
}

export interface RouterChild {
  readonly origin: string;
  /** From its start until it listened. */
  readonly startedInMs: number;
  /** CPU time it has used so far; NaN where that is not known. */
  cpuMs(): number;
  /** Of which its JavaScript and what that called, to the microsecond; null where that is not known. */
  mainThreadMs(): number | null;
  /** Memory it holds now; NaN where that is not known. */
  residentMiB(): number;
  /** At once; nothing of it is needed any more. */
  kill(): Promise<void>;
}

/**
 * The command line in a process of its own. `data/sir.db` under `folder` is its store, and may be there already.
 * @throws with what it said, when it does not come to listen
 */
export async function startRouterChild(
  folder: string,
  config: object,
  flags: readonly string[] = [],
): Promise<RouterChild> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "sir.config.json");
  writeFileSync(file, JSON.stringify({ log: { level: "warn" }, ...config }));
  const store = `sqlite:${join(folder, "data", "sir.db")}`;
  const cli = builtCli();
  const fromMs = performance.now();
  const words = [...flags, ...nodeFlags(), cli, "serve", "--config", file, "--port", "0", "--store", store];
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("SIR_") && name !== "NODE_OPTIONS");
  const child = spawn(process.execPath, words, { env: Object.fromEntries(own), stdio: ["ignore", "pipe", "pipe"] });
  const kill = watch(child);
  const origin = await listening(child);
  const { pid = -1 } = child;
  return { origin, startedInMs: performance.now() - fromMs, ...usageOf(pid), kill };
}

function usageOf(pid: number): Pick<RouterChild, "cpuMs" | "mainThreadMs" | "residentMiB"> {
  return {
    cpuMs: () => cpuMsOf(pid) ?? Number.NaN,
    mainThreadMs: () => mainThreadMsOf(pid),
    residentMiB: () => residentMiBOf(pid) ?? Number.NaN,
  };
}

/** `SIR_BENCH_NODE_FLAGS`: for the routers, e.g. `--cpu-prof --cpu-prof-dir=/tmp/prof`; they then end by SIGTERM. */
function nodeFlags(): string[] {
  return process.env["SIR_BENCH_NODE_FLAGS"]?.split(" ").filter((flag) => flag !== "") ?? [];
}

function listening(child: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no router within ${START_MS} ms: ${said}`)), START_MS);
    const hear = (text: string): void => {
      said += said.length < 65_536 ? text : "";
      const [, origin] = /at (http:\/\/\S+)\/v1\n/.exec(said) ?? [];
      if (origin === undefined) return;
      clearTimeout(timer);
      resolve(origin);
    };
    child.stdout?.setEncoding("utf8").on("data", hear);
    child.stderr?.setEncoding("utf8").on("data", hear);
    child.once("exit", (code) => reject(new Error(`the router ended with ${code}: ${said}`)));
  });
}

export interface ScriptChild {
  /** Its first message. */
  readonly first: unknown;
  /** Sends a message and resolves with the next one. */
  ask(message: object): Promise<unknown>;
  kill(): Promise<void>;
}

/** A script of this folder, run as this one is; it sends a message once it is ready. */
export async function startScript(name: string): Promise<ScriptChild> {
  const child = fork(new URL(name, import.meta.url), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const kill = watch(child);
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const over = (code: number | null): void => reject(new Error(`${name} ended with ${code}`));
      child.once("exit", over);
      child.once("message", (message) => {
        child.off("exit", over);
        resolve(message);
      });
    });
  const first = await next();
  const ask = (message: object): Promise<unknown> => {
    const answer = next();
    child.send(message);
    return answer;
  };
  return { first, ask, kill };
}

function watch(child: ChildProcess): () => Promise<void> {
  running.add(child);
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => {
      running.delete(child);
      resolve();
    });
  });
  return () => {
    child.kill(nodeFlags().length > 0 ? "SIGTERM" : "SIGKILL");
    return gone;
  };
}
