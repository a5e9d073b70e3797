// `sir __complete`: what may come next, for the shells' scripts. Quick or silent: a shell waits for it at each key.

import type { ArgsDef } from "citty";
import { GLOBAL_ARGS, kebab } from "./arguments.ts";
import type { Command, Io } from "./command.ts";
import { COMMANDS } from "./command-list.ts";
import { type Candidate, candidatesFor, FILES, type Source, sourceOfFlag, sourceOfWord } from "./completion-sources.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { harmless } from "./width.ts";

/** With what it takes to start: 150 ms at most, or nothing. SIR_COMPLETION_MS grants a slow machine more. */
const PATIENCE_MS = 100;

/** @param raw `-- WORD... CURRENT`, or `--line` and what was typed so far. Never fails, and never explains. */
export async function complete(raw: readonly string[], io: Io): Promise<ExitCode> {
  const patienceMs = Number(io.environment["SIR_COMPLETION_MS"]) || PATIENCE_MS;
  const late = io.clock.at(io.clock.nowMs() + patienceMs, () => io.abort(EXIT.done));
  try {
    const words = raw[0] === "--line" ? wordsIn(raw[1] ?? "").slice(1) : raw.slice(1);
    const found = await next(words, patienceMs, io);
    if (found === FILES) io.out(FILES);
    else for (const [value, meaning] of found) io.out(`${harmless(value)}\t${harmless(meaning)}`);
  } catch {
    // Nothing is better than a wrong word.
  }
  late.cancel();
  return EXIT.done;
}

async function next(
  words: readonly string[],
  patienceMs: number,
  io: Io,
): Promise<readonly Candidate[] | typeof FILES> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const [name] = before;
  if (name === undefined || (name === "help" && before.length === 1)) return commands(current);
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) return [];
  const command = await entry.load();
  const args = { ...command.args, ...GLOBAL_ARGS };
  const asked = askedFor(before.slice(1), current, args, command);
  if (asked === null) return [];
  const { source, typed, prefix } = asked;
  if (source === "flags") return flags(args, current);
  const found = await candidatesFor(source, urlIn(before), patienceMs, io);
  if (found === FILES) return FILES;
  return found.filter(([value]) => value.startsWith(typed)).map(([value, meaning]) => [prefix + value, meaning]);
}

function commands(current: string): Candidate[] {
  const all = Object.entries(COMMANDS).map(([name, { summary }]): Candidate => [name, summary]);
  return all.filter(([name]) => name.startsWith(current));
}

interface Asked {
  readonly source: Source | "flags";
  readonly typed: string;
  /** Stands before each candidate: of `--model=`. */
  readonly prefix: string;
}

function askedFor(before: readonly string[], current: string, args: ArgsDef, command: Command): Asked | null {
  const inline = /^(--[a-zA-Z-]+=)(.*)$/.exec(current);
  if (inline !== null) return flagValue(inline[1]?.slice(2, -1) ?? "", inline[2] ?? "", inline[1] ?? "", args);
  const last = before.at(-1) ?? "";
  const flag = last.startsWith("-") ? definitionOf(last.replace(/^-+/, ""), args) : null;
  if (flag?.takesValue === true) return flagValue(flag.name, current, "", args);
  if (current.startsWith("-")) return { source: "flags", typed: current, prefix: "" };
  const source = sourceOfWord(command.name, positionals(before, args));
  return source === null ? null : { source, typed: current, prefix: "" };
}

function flagValue(spelling: string, typed: string, prefix: string, args: ArgsDef): Asked | null {
  const flag = definitionOf(spelling, args);
  const source = flag === null ? null : sourceOfFlag(flag.name);
  return source === null ? null : { source, typed, prefix };
}

function definitionOf(spelling: string, args: ArgsDef): { name: string; takesValue: boolean } | null {
  for (const [name, definition] of Object.entries(args)) {
    const aliases = "alias" in definition ? [definition.alias ?? []].flat() : [];
    if (![name, kebab(name), ...aliases].includes(spelling)) continue;
    return { name, takesValue: definition.type === "string" || definition.type === "enum" };
  }
  return null;
}

function positionals(before: readonly string[], args: ArgsDef): string[] {
  const words: string[] = [];
  for (let i = 0; i < before.length; i++) {
    const word = before[i] ?? "";
    if (!word.startsWith("-")) words.push(word);
    else if (!word.includes("=") && definitionOf(word.replace(/^-+/, ""), args)?.takesValue === true) i++;
  }
  return words;
}

function flags(args: ArgsDef, current: string): Candidate[] {
  return Object.entries(args)
    .filter(([, { type }]) => type !== "positional")
    .map(([name, definition]): Candidate => {
      const negated = definition.type === "boolean" && definition.default === true;
      return [`--${negated ? "no-" : ""}${kebab(name)}`, definition.description ?? ""];
    })
    .filter(([flag]) => flag.startsWith(current));
}

function urlIn(words: readonly string[]): string | null {
  const at = words.findIndex((word) => word === "--url" || word.startsWith("--url="));
  if (at < 0) return null;
  const [, inline] = words[at]?.split("=", 2) ?? [];
  return inline ?? words[at + 1] ?? null;
}

/** As a shell would split it; the last one is what is being typed. */
function wordsIn(line: string): string[] {
  const words: string[] = [];
  let word = "";
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const sign = line[i] ?? "";
    if (sign === "\\" && quote !== "'") word += line[++i] ?? "";
    else if (quote !== "") {
      if (sign === quote) quote = "";
      else word += sign;
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (/\s/.test(sign)) {
      if (word !== "") words.push(word);
      word = "";
    } else word += sign;
  }
  return [...words, word];
}
