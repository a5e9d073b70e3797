// The built command line beside the page: what it prints is what the page must show.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { builtCli } from "../e2e/built.ts";

const run = promisify(execFile);

/** The one JSON document that the command prints. */
export async function sirJson<T>(words: readonly string[]): Promise<T> {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const { stdout } = await run(process.execPath, [builtCli(), ...words, "--json"], {
    env: environment,
    maxBuffer: 32 * 1024 * 1024,
  });
  return JSON.parse(stdout) as T;
}
