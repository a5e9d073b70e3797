// The real terminal, environment and signals behind a command.

import { readFileSync } from "node:fs";
import { SystemClock } from "../system/clock.ts";
import type { Io } from "./command.ts";

/** A reader that stopped early (`sir … | head`) is no error. */
function ignoreBrokenPipe(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

export function processIo(): Io {
  const { env, stdout, stderr } = process;
  ignoreBrokenPipe(stdout);
  ignoreBrokenPipe(stderr);
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    environment: env,
    cwd: process.cwd(),
    color: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    version: packageVersion(),
    clock: new SystemClock(),
    onSignal: (name, heard) => {
      process.on(name, heard);
      return () => void process.off(name, heard);
    },
    abort: (code) => process.exit(code),
  };
}
