// Help: examples first, because that is what people look for.

import type { ArgsDef } from "citty";
import { GLOBAL_ARGS } from "./arguments.ts";
import type { Command } from "./command.ts";
import { EXIT_TEXT } from "./exit-codes.ts";
import { wrapped } from "./width.ts";

/** Less room than this for what things mean, and it goes below. */
const LEAST_RIGHT = 30;

type Rows = readonly (readonly [string, string])[];

/** What stands on the right goes on below itself where the terminal ends. */
function columns(rows: Rows, room: number, least = 0): string[] {
  const width = Math.max(least, ...rows.map(([left]) => left.length));
  const narrow = room - width - 4 < LEAST_RIGHT;
  return rows.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrapped(right, narrow ? room - 6 : room - width - 4);
    if (narrow) return [`  ${left}`, ...[first, ...rest].map((line) => `      ${line}`)];
    return [`  ${left.padEnd(width)}  ${first}`.trimEnd(), ...rest.map((line) => " ".repeat(width + 4) + line)];
  });
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

/** @param room In columns; without end off a terminal. */
export function commandHelp(command: Command, room = Number.POSITIVE_INFINITY): string {
  const positional = Object.entries(command.args).filter(([, definition]) => definition.type === "positional");
  const words = positional.map(([name, { required }]) =>
    required === false ? `[${name.toUpperCase()}]` : name.toUpperCase(),
  );
  const rows = positional.map(([name, definition]): [string, string] => [
    name.toUpperCase(),
    definition.description ?? "",
  ]);
  return [
    ...wrapped(command.summary, room),
    "",
    "Examples:",
    ...columns(command.examples, room),
    "",
    `Usage: ${["sir", command.name, ...words, "[flags]"].join(" ")}`,
    "",
    ...columns([...rows, ...flagRows({ ...command.args, ...GLOBAL_ARGS })], room),
  ].join("\n");
}

export function overview(
  version: string,
  groups: readonly (readonly [title: string, commands: Rows])[],
  room = Number.POSITIVE_INFINITY,
): string {
  const width = Math.max(...groups.flatMap(([, rows]) => rows.map(([name]) => name.length)));
  return [
    ...wrapped(
      `sir ${version}: one OpenAI-compatible endpoint in front of GPUs that cannot hold every model at once.`,
      room,
    ),
    "",
    "Examples:",
    ...columns(
      [
        ["sir serve", "start the router with sir.config.ts of this folder"],
        ["sir doctor", "check the configuration and everything it names"],
        ["sir status", "what each GPU does, and why"],
        ["sir explain job_01a2b3c4d5e6", "why that job took as long as it did"],
      ],
      room,
    ),
    ...groups.flatMap(([title, rows]) => ["", `${title}:`, ...columns(rows, room, width)]),
    "",
    ...wrapped("`sir COMMAND --help` says more; `sir help exit-codes` lists what the exit status means.", room),
  ].join("\n");
}

export function exitCodesHelp(room = Number.POSITIVE_INFINITY): string {
  const rows = EXIT_TEXT.map(([code, text]) => [String(code), text] as const);
  return ["Exit status:", ...columns(rows, room)].join("\n");
}
