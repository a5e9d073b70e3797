// The built command line as a process: off a terminal, or in a real pseudo-terminal of a given size.

import { type ChildProcess, spawn } from "node:child_process";
import { afterAll } from "vitest";
import { builtCli } from "../e2e/built.ts";

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Environment = Readonly<Record<string, string>>;

const BASE: Environment = { TZ: "UTC", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TERM: "xterm-256color" };

function environmentOf(given: Environment): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...BASE, ...given };
}

function finished(child: ChildProcess): Promise<Ran> {
  children.add(child);
  const said = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  return new Promise((resolve) => {
    child.once("close", (code) => {
      children.delete(child);
      resolve({ code, ...said });
    });
  });
}

/** Off a terminal: two pipes. */
export function piped(words: readonly string[], environment: Environment = {}, cwd?: string): Promise<Ran> {
  return finished(
    spawn(process.execPath, [builtCli(), ...words], {
      env: environmentOf(environment),
      stdio: ["ignore", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    }),
  );
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Opens a pseudo-terminal, runs the words in it, and writes what comes; standard input goes to the terminal. */
const BRIDGE = `
import fcntl, os, pty, select, struct, sys, termios
columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
before = termios.tcgetattr(fd)
os.write(2, ("pid %d\\n" % pid).encode())
watched = [fd, 0]
while True:
    ready, _, _ = select.select(watched, [], [])
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed:
            os.write(fd, typed)
        else:
            watched = [fd]
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
_, status = os.waitpid(pid, 0)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
`;

export interface Session {
  /** Everything the terminal was sent so far. */
  shown(): string;
  type(text: string): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves once the text has been shown. */
  until(pattern: RegExp): Promise<void>;
  readonly ended: Promise<Ran>;
}

const PATIENCE_MS = 60_000;

export function inTerminal(words: readonly string[], size: Size, environment: Environment = {}): Session {
  const command = [process.execPath, builtCli(), ...words];
  const child = spawn("python3", ["-c", BRIDGE, String(size.columns), String(size.rows), ...command], {
    env: environmentOf(environment),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let shown = "";
  let pid = 0;
  child.stdout.on("data", (data: Buffer) => {
    shown += data.toString("utf8");
  });
  child.stderr.on("data", (data: Buffer) => {
    pid = Number(/^pid (\d+)$/m.exec(data.toString("utf8"))?.[1] ?? pid);
  });
  return {
    shown: () => shown,
    type: (text) => void child.stdin.write(text),
    signal: (name) => void process.kill(pid, name),
    async until(pattern) {
      for (const untilMs = performance.now() + PATIENCE_MS; !pattern.test(shown); ) {
        if (performance.now() > untilMs) throw new Error(`${pattern} is never shown:\n${shown}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    ended: finished(child),
  };
}
