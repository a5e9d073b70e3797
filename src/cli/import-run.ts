// What `sir import llama-swap` does: reads the file, writes what became of it, and gives the account.

import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { ownPort } from "../discovery/own-port.ts";
import { type Imported, importLlamaSwap } from "../llama-swap/import.ts";
import type { Finding } from "../llama-swap/ledger.ts";
import { SourceError } from "../llama-swap/source.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Placed, placeAt, placeConfig } from "./init-file.ts";

interface Wishes {
  readonly file: string;
  readonly out?: string | undefined;
  readonly stdout?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly json?: unknown;
}

export async function takeOver(wishes: Wishes, io: Io): Promise<ExitCode> {
  const text = textOf(wishes, io);
  return text === null ? EXIT.missing : await deliver(read(text, wishes.file, (await ownPort()).port), wishes, io);
}

/** In words, or as the API's error object. */
function fail(message: string, json: unknown, io: Io): void {
  io.err(json === true ? JSON.stringify({ error: { code: "import_failed", message } }) : `sir: ${message}`);
}

function textOf({ file, json }: Wishes, io: Io): string | null {
  try {
    return readFileSync(resolve(io.cwd, file), "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    fail(`${file} ${code === "ENOENT" ? "is not there" : `cannot be read (${code})`}.`, json, io);
    return null;
  }
}

function read(text: string, file: string, port: number): Imported {
  try {
    return importLlamaSwap(text, basename(file), port);
  } catch (error) {
    if (error instanceof SourceError) throw new UsageError(`${file} cannot be taken over: ${error.message}.`);
    throw error;
  }
}

async function deliver(taken: Imported, wishes: Wishes, io: Io): Promise<ExitCode> {
  const status = wishes.strict === true && taken.leftOut.length > 0 ? EXIT.fault : EXIT.done;
  if (taken.models.length === 0) {
    fail(`${wishes.file} has no model that can be taken over, so nothing was written.`, wishes.json, io);
    if (wishes.json !== true) for (const line of report(taken, wishes.file)) io.say(line);
    return EXIT.failed;
  }
  const placed = wishes.stdout === true ? null : await place(taken, wishes, io);
  if (placed === "taken") {
    fail(`${wishes.out} is there already; --force writes over it.`, wishes.json, io);
    return EXIT.failed;
  }
  if (wishes.json === true) {
    io.out(JSON.stringify(asJson(taken, placed, wishes), null, 2));
    return status;
  }
  if (placed === null) {
    io.write(taken.text);
    for (const line of report(taken, wishes.file)) io.say(line);
    return status;
  }
  const { models, carried, read: count } = taken;
  io.out(
    `Wrote ${placed.name}: ${plural(models.length, "model")}, 1 device. Carried ${carried} of ${plural(count, "setting")} as they were.`,
  );
  for (const note of placed.notes) io.out(note);
  for (const line of report(taken, wishes.file)) io.out(line);
  const config = placed.name === "sir.config.ts" ? "" : ` --config ${placed.name}`;
  io.out(`\nNext:  npx sir doctor${config}\n       npx sir serve${config}`);
  return status;
}

async function place(taken: Imported, { out, force }: Wishes, io: Io): Promise<Placed | "taken"> {
  if (out === undefined) return await placeConfig(taken.text, force === true, io);
  return placeAt(resolve(io.cwd, out), taken.text, force === true) ? { name: out, notes: [] } : "taken";
}

function asJson(taken: Imported, placed: Placed | null, { file }: Wishes): object {
  const { read: count, carried, changed, leftOut, models, remarks, text } = taken;
  const placedAt = (findings: readonly Finding[]): object[] => findings.map((each) => ({ file, ...each }));
  return {
    written: placed?.name ?? null,
    ...(placed === null ? { config: text } : {}),
    models,
    ...{ read: count, carried, changed: placedAt(changed), leftOut: placedAt(leftOut), remarks },
  };
}

function report({ changed, leftOut, remarks }: Imported, file: string): string[] {
  return [
    ...block(`Changed in meaning (${settings(changed)})`, changed, file),
    ...block(`Left out (${settings(leftOut)})`, leftOut, file),
    ...(remarks.length === 0
      ? []
      : ["", "Different without being written there", ...remarks.map((each) => `  ${each}`)]),
  ];
}

function block(title: string, findings: readonly Finding[], file: string): string[] {
  if (findings.length === 0) return [];
  const rows = findings.map(({ line, path, text, settings: count }) => {
    const name = count > 1 ? `${path} (${count})` : path;
    return [`${basename(file)}:${line}`, name, text] as const;
  });
  const width = (column: 0 | 1, most: number): number =>
    Math.min(most, Math.max(...rows.map((row) => row[column].length)));
  return [
    "",
    title,
    ...rows.map(([at, path, text]) => `  ${at.padEnd(width(0, 40))}  ${path.padEnd(width(1, 48))}  ${text}`),
  ];
}

const settings = (findings: readonly Finding[]): string =>
  plural(
    findings.reduce((sum, each) => sum + each.settings, 0),
    "setting",
  );

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
