// A router as a process of its own: started on a free port, watched, signalled, and gone when the test file is.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { builtCli } from "./built.ts";

const START_MS = 60_000;

// Each test starts processes, which takes its time on a machine that is busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Launch {
  /** Written as JSON beside the data; a text is the path of a file that is there. */
  readonly config: object | string;
  /** Holds the configuration; the data are in `data` below it, unless told otherwise. */
  readonly folder: string;
  readonly dataFolder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: a free one. */
  readonly port?: number;
}

const folders = new Set<string>();
const children = new Set<ChildProcess>();

afterAll(async () => {
  const running = [...children].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(
    running.map((child) => {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      return gone;
    }),
  );
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sir-e2e-"));
  folders.add(folder);
  return folder;
}

/** Writes what a router reads at its start and on SIGHUP; a text is written as it is. */
export function writeConfig(folder: string, config: object | string): string {
  const path = join(folder, "sir.config.json");
  writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config));
  return path;
}

/** The process, whether or not it comes to listen. */
export class RouterProcess {
  readonly folder: string;
  readonly databasePath: string;
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #ready: Promise<string>;
  #out = "";
  #err = "";
  #origin: string | null = null;

  constructor({ config, folder, dataFolder, environment, port = 0 }: Launch) {
    const file = typeof config === "string" ? config : writeConfig(folder, config);
    this.folder = folder;
    this.databasePath = join(dataFolder ?? join(folder, "data"), "sir.db");
    const words = ["serve", "--config", file, "--port", String(port), "--store", `sqlite:${this.databasePath}`];
    const { NODE_OPTIONS: _, ...own } = process.env;
    const child = spawn(process.execPath, [builtCli(), ...words], {
      cwd: folder,
      env: { ...own, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    children.add(child);
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        children.delete(child);
        resolve({ code, signal });
      });
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#err += text;
    });
    this.#ready = new Promise((resolve) => {
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        this.#out += text;
        const [, origin] = /at (http:\/\/\S+)\/v1\n/.exec(this.#out) ?? [];
        if (origin !== undefined) resolve(origin);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get origin(): string {
    if (this.#origin === null) throw new Error("the router has not said where it listens");
    return this.#origin;
  }

  get stderr(): string {
    return this.#err;
  }

  /** @throws with everything it said, when it ends instead */
  async listening(): Promise<this> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no router within ${START_MS} ms: ${this.#err}`)), START_MS);
    });
    const ended = this.exited.then(({ code }) => {
      throw new Error(`the router ended with ${code}: ${this.#err}`);
    });
    this.#origin = await Promise.race([this.#ready, ended, late]);
    clearTimeout(timer);
    return this;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<Exit> {
    this.signal("SIGKILL");
    return this.exited;
  }

  async stop(): Promise<Exit> {
    this.signal("SIGTERM");
    return this.exited;
  }
}

export function serve(launch: Launch): Promise<RouterProcess> {
  return new RouterProcess(launch).listening();
}

/** Asks again until it holds; the last failure is the test's. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 60_000): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await pause(20);
    }
  }
}

/** For what only time brings about: a lease of a real process. */
export function pause(waitMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs));
}
