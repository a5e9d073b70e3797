// Help: examples first, because that is what people look for.

import type { ArgsDef } from "citty";
import { GLOBAL_ARGS } from "./arguments.ts";
import type { Command } from "./command.ts";
import { EXIT_TEXT } from "./exit-codes.ts";

function columns(rows: readonly (readonly [string, string])[], least = 0): string[] {
  const width = Math.max(least, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd());
}

function flagRows(args: ArgsDef): [string, string][] {
  return Object.entries(args)
    .filter(([, definition]) => definition.type !== "positional")
    .map(([name, definition]) => {
      const spelled = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const negated = definition.type === "boolean" && definition.default === true;
      const hint = definition.type === "boolean" ? "" : ` ${definition.valueHint ?? name.toUpperCase()}`;
      const alias = "alias" in definition && definition.alias !== undefined ? `-${definition.alias}, ` : "";
      return [`${alias}--${negated ? "no-" : ""}${spelled}${hint}`, definition.description ?? ""];
    });
}

export function commandHelp(command: Command): string {
  const positional = Object.entries(command.args).filter(([, definition]) => definition.type === "positional");
  const words = positional.map(([name, { required }]) =>
    required === false ? `[${name.toUpperCase()}]` : name.toUpperCase(),
  );
  const rows = positional.map(([name, definition]): [string, string] => [
    name.toUpperCase(),
    definition.description ?? "",
  ]);
  return [
    command.summary,
    "",
    "Examples:",
    ...columns(command.examples),
    "",
    `Usage: ${["sir", command.name, ...words, "[flags]"].join(" ")}`,
    "",
    ...columns([...rows, ...flagRows({ ...command.args, ...GLOBAL_ARGS })]),
  ].join("\n");
}

type Rows = readonly (readonly [string, string])[];

export function overview(version: string, groups: readonly (readonly [title: string, commands: Rows])[]): string {
  const width = Math.max(...groups.flatMap(([, rows]) => rows.map(([name]) => name.length)));
  return [
    `sir ${version}: one OpenAI-compatible endpoint in front of GPUs that cannot hold every model at once.`,
    "",
    "Examples:",
    ...columns([
      ["sir serve", "start the router with sir.config.ts of this folder"],
      ["sir doctor", "check the configuration and everything it names"],
      ["sir status", "what each GPU does, and why"],
      ["sir explain job_01a2b3c4d5e6", "why that job took as long as it did"],
    ]),
    ...groups.flatMap(([title, rows]) => ["", `${title}:`, ...columns(rows, width)]),
    "",
    "`sir COMMAND --help` says more; `sir help exit-codes` lists what the exit status means.",
  ].join("\n");
}

export function exitCodesHelp(): string {
  return ["Exit status:", ...columns(EXIT_TEXT.map(([code, text]) => [String(code), text] as const))].join("\n");
}
