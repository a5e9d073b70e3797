// A client as a process of its own, as its users run it: told what to do line by line.

import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Command {
  readonly scene: string;
  readonly baseURL: string;
  /** With the one line that makes the client aware of SIR. */
  readonly line?: boolean;
  readonly model?: string;
  readonly prompt?: string;
  /** The client's own settings, over its defaults. */
  readonly options?: object;
  readonly [more: string]: unknown;
}

export interface Failure {
  readonly kind: string;
  readonly name: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string;
}

export interface Outcome {
  readonly value?: unknown;
  readonly error?: Failure;
}

/** The moment to abort never came. */
const NOT_YET = { kind: "NotYet", name: "NotYet", status: null, code: null };

const folder = fileURLToPath(new URL("./clients/", import.meta.url));

export class Program {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  #count = 0;
  #said = "";

  constructor(interpreter: string, args: readonly string[], flags: readonly string[] = []) {
    const [script = "", ...rest] = args;
    this.#child = spawn(interpreter, [...flags, folder + script, ...rest], {
      cwd: folder,
      // Nothing of whoever runs the suite: no keys, no proxies.
      env: {
        PATH: process.env["PATH"],
        HOME: tmpdir(),
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        PYTHONDONTWRITEBYTECODE: "1",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stderr?.on("data", (text: Buffer) => {
      this.#said = (this.#said + text.toString()).slice(-4_000);
    });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on("line", (line) => this.#hear(line));
    this.#child.once("close", (code) => {
      const message = `the program ended with ${code}: ${this.#said}`;
      const error = { kind: "Ended", name: "Ended", status: null, code: null, message };
      for (const resolve of this.#waiting.values()) resolve({ error });
    });
  }

  /** What the scene returned or threw. @param until Aborts the scene's call when it resolves */
  run(command: Command, until?: Promise<unknown>): Promise<Outcome> {
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve) => {
      const abort = (): unknown => this.#child.stdin?.write(`${JSON.stringify({ abort: id })}\n`);
      until?.then(abort, (error: Error) => resolve({ error: { ...NOT_YET, message: error.message } }));
      this.#waiting.set(id, resolve);
      this.#child.stdin?.write(`${JSON.stringify({ model: "m", ...command, id })}\n`);
    });
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  #hear(line: string): void {
    // Libraries print what they like.
    if (!line.startsWith("{")) return;
    const { id, ...outcome } = JSON.parse(line) as Outcome & { id?: number };
    if (id === undefined) return;
    this.#waiting.get(id)?.(outcome);
    this.#waiting.delete(id);
  }
}
