// The real terminal, environment and signals behind a command.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { SystemClock } from "../system/clock.ts";
import type { Io, Screen } from "./command.ts";
import { plainSigns } from "./width.ts";
import { Zone } from "./zone.ts";

/** A reader that stopped early (`sir … | head`) is no error; a disk that is full is one, and no bug of ours. */
function endOnFailure(stream: NodeJS.WriteStream, name: string): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    if (stream !== process.stderr) process.stderr.write(`sir: ${name} cannot be written: ${error.message}.\n`);
    process.exit(1);
  });
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

const asIs = (text: string): string => text;

/** What a terminal is taken for that does not say how large it is. */
const UNKNOWN_SIZE = { columns: 80, rows: 24 };

export function processIo(): Io {
  const { env, stdin, stdout, stderr } = process;
  endOnFailure(stdout, "standard output");
  endOnFailure(stderr, "standard error");
  const screen = processScreen(env, [stdin.isTTY === true, stdout, stderr]);
  const data = screen.out && !screen.unicode ? plainSigns : asIs;
  const talk = screen.err && !screen.unicode ? plainSigns : asIs;
  return {
    out: (text) => void stdout.write(`${data(text)}\n`),
    err: (text) => void stderr.write(`${talk(text)}\n`),
    say: (text) => void stderr.write(`${talk(text)}\n`),
    write: (data) => void stdout.write(data),
    draw: (text) => void stderr.write(text),
    screen,
    readInput,
    question,
    onKey,
    fetch: (input, init) => globalThis.fetch(input, init),
    quiet: false,
    zone: new Zone(),
    environment: env,
    cwd: process.cwd(),
    color: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    version: packageVersion(),
    clock: new SystemClock(),
    onSignal: (name, heard) => {
      process.on(name, heard);
      return () => void process.off(name, heard);
    },
    onExit: (last) => {
      process.on("exit", last);
      return () => void process.off("exit", last);
    },
    abort: (code) => process.exit(code),
  };
}

function processScreen(
  env: NodeJS.ProcessEnv,
  [input, out, err]: readonly [boolean, NodeJS.WriteStream, NodeJS.WriteStream],
): Screen {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return {
    input,
    out: out.isTTY === true,
    err: err.isTTY === true,
    unicode: /utf-?8/i.test(locale),
    dumb: env["TERM"] === "dumb",
    size: () => {
      const { columns, rows } = [out, err].find(({ isTTY }) => isTTY === true) ?? UNKNOWN_SIZE;
      // A terminal that was never told its size says zero.
      return { columns: columns || UNKNOWN_SIZE.columns, rows: rows || UNKNOWN_SIZE.rows };
    },
  };
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function question(prompt: string): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    lines.once("SIGINT", () => process.exit(130));
    lines.once("close", () => resolve(""));
    lines.question(prompt, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

function onKey(heard: (key: string) => void): () => void {
  const { stdin } = process;
  const listen = (data: Buffer): void => heard(data.toString("utf8"));
  stdin.setRawMode?.(true);
  stdin.on("data", listen);
  stdin.resume();
  return () => {
    stdin.off("data", listen);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}
