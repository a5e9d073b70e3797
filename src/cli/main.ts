// From what was typed to an exit status. Commands are imported only when they are called.

import { closest } from "../config/closest.ts";
import { ConfigError } from "../config/problem.ts";
import { checkArguments, everyValue, GLOBAL_ARGS } from "./arguments.ts";
import { type Command, type Io, UsageError } from "./command.ts";
import { COMMANDS, GROUPS } from "./command-list.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { commandHelp, exitCodesHelp, overview } from "./help.ts";
import { sayZone, Zone } from "./zone.ts";

/** @param argv what follows the program's own name */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  const [first, ...rest] = argv;
  if (first === undefined || first === "--help" || first === "-h") {
    io.out(summary(io));
    return first === undefined ? EXIT.usage : EXIT.done;
  }
  if (first === "--version" || first === "-V" || first === "-v") {
    io.out(io.version);
    return EXIT.done;
  }
  if (first === "__complete") return (await import("./complete.ts")).complete(rest, io);
  try {
    if (first === "help") return await help(rest, io);
    const command = await find(first);
    return await runCommand(command, rest, io);
  } catch (error) {
    return explain(error, argv, io);
  }
}

/** In the order of the overview; for pages that list them. */
export async function everyCommand(): Promise<Command[]> {
  return await Promise.all(Object.values(COMMANDS).map((entry) => entry.load()));
}

async function runCommand(command: Command, raw: readonly string[], io: Io): Promise<ExitCode> {
  if (raw.includes("--help") || raw.includes("-h")) {
    io.out(commandHelp(command, roomOf(io)));
    return EXIT.done;
  }
  const args = { ...command.args, ...GLOBAL_ARGS };
  checkArguments(raw, args, command.manyWords);
  const { parseArgs } = await import("citty");
  const repeated = (command.repeats ?? []).map((flag) => [flag, everyValue(raw, flag, args)] as const);
  const lists = Object.fromEntries(repeated.filter(([, values]) => values.length > 1));
  const parsed = Object.assign(parseArgs([...raw], args), lists);
  const wished = wishedFor(parsed, io);
  const code = await command.run(parsed, wished);
  sayZone(wished);
  return code;
}

/** The terminal as the flags of every command want it. */
function wishedFor(parsed: Readonly<Record<string, unknown>>, io: Io): Io {
  const quiet = io.quiet || parsed["quiet"] === true;
  return {
    ...io,
    color: io.color && parsed["color"] !== false,
    ...(parsed["utc"] === true ? { zone: new Zone(true) } : {}),
    ...(quiet ? { quiet, say: () => undefined } : {}),
  };
}

async function find(name: string): Promise<Command> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry !== undefined) return await entry.load();
  const near = closest(name.replace(/^-+/, ""), Object.keys(COMMANDS));
  const what = name.startsWith("-") ? "flag" : "command";
  const hint = near === null ? "`sir --help` lists what there is." : `Did you mean \`sir ${near}\`?`;
  throw new UsageError(`Unknown ${what} "${name}". ${hint}`);
}

async function help(words: readonly string[], io: Io): Promise<ExitCode> {
  const [topic] = words;
  if (topic === undefined) io.out(summary(io));
  else if (topic === "exit-codes") io.out(exitCodesHelp(roomOf(io)));
  else io.out(commandHelp(await find(topic), roomOf(io)));
  return EXIT.done;
}

/** Texts are broken where a terminal ends, and nowhere off it. */
function roomOf({ screen }: Io): number {
  return screen.out ? screen.size().columns : Number.POSITIVE_INFINITY;
}

function summary(io: Io): string {
  const groups = Object.entries(GROUPS).map(([title, entries]) => {
    const rows = Object.entries(entries).map(([name, { summary }]) => [name, summary] as const);
    return [title, rows] as const;
  });
  return overview(io.version, groups, roomOf(io));
}

/** What was typed or configured wrongly is said in words; anything else is a bug and shows where it is. */
function explain(error: unknown, argv: readonly string[], io: Io): ExitCode {
  const usage = error instanceof UsageError || error instanceof ConfigError || isCitty(error);
  if (usage && error instanceof Error) {
    if (argv.includes("--json")) io.err(JSON.stringify({ error: { code: "usage", message: error.message } }));
    else io.err(`sir: ${error.message}`);
    return EXIT.usage;
  }
  const text = `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  if (argv.includes("--json")) io.err(JSON.stringify({ error: { code: "internal_error", message: text } }));
  else io.err(`sir: ${text}`);
  return EXIT.failed;
}

const isCitty = (error: unknown): boolean => error instanceof Error && error.name === "CLIError";
