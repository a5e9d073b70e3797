// Reads the configuration file: TypeScript, JavaScript and JSON alike; `sir-router` means this package, wherever the file
// lies.

import { readFileSync } from "node:fs";
import { createJiti } from "jiti";
import { defineDriver } from "../backends/backend.ts";
import { definePolicy } from "../scheduler/policy.ts";
import { defineConfig } from "./define.ts";
import { ConfigError } from "./problem.ts";

/**
 * The file's default export. Read afresh each time.
 * @throws {ConfigError} with file and line when it does not parse or throws
 */
export async function readConfigFile(file: string): Promise<unknown> {
  let value: unknown;
  try {
    value = file.endsWith(".json") ? JSON.parse(readFileSync(file, "utf8")) : await importFresh(file);
  } catch (error) {
    throw new ConfigError(
      file,
      [{ path: "", text: causeText(error, file), mend: "Mend the file and try again." }],
      error,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const mend = "Write `export default defineConfig({ … })`.";
    throw new ConfigError(file, [{ path: "", text: "It has no default export that is an object.", mend }]);
  }
  return value;
}

function importFresh(file: string): Promise<unknown> {
  const jiti = createJiti(import.meta.url, {
    moduleCache: false,
    fsCache: false,
    virtualModules: { "sir-router": { defineConfig, defineDriver, definePolicy } },
  });
  return jiti.import(file, { default: true });
}

/** The message, and where in the file it happened, if the error says so. */
function causeText(error: unknown, file: string): string {
  if (!(error instanceof Error)) return "It threw something that is not an Error.";
  const message = (error.message.split("\n")[0] ?? "").trim().replace(/\.$/, "");
  const place = placeIn(error, file);
  return `${error.name}${place === null ? "" : ` at line ${place.line}, column ${place.column}`}: ${message}.`;
}

function placeIn(error: Error, file: string): { line: number; column: number } | null {
  const offset = /at position (\d+)/.exec(error.message);
  if (error instanceof SyntaxError && offset !== null && file.endsWith(".json")) {
    const before = readFileSync(file, "utf8").slice(0, Number(offset[1])).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
  const stack = error.stack ?? "";
  const at = stack.indexOf(`${file}:`);
  const place = at < 0 ? null : /^:(\d+):(\d+)/.exec(stack.slice(at + file.length));
  return place === null ? null : { line: Number(place[1]), column: Number(place[2]) };
}
