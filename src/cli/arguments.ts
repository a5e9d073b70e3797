// Checks what was typed before citty reads it: citty takes any flag and any number of words in silence.

import type { ArgsDef } from "citty";
import { closest } from "../config/closest.ts";
import { UsageError } from "./command.ts";

/** Every command has these. */
export const GLOBAL_ARGS = {
  json: { type: "boolean", description: "Print one JSON document on standard output." },
  color: { type: "boolean", default: true, description: "No colour (also NO_COLOR; never off a terminal)." },
  quiet: { type: "boolean", alias: "q", description: "Say nothing but data and errors." },
  utc: { type: "boolean", description: "Tell instants in UTC instead of the router's time." },
  help: { type: "boolean", alias: "h", description: "Show this help." },
} as const satisfies ArgsDef;

interface Flag {
  readonly name: string;
  readonly takesValue: boolean;
}

/** `maxTokens` as it is typed: `max-tokens`. */
export const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function flagsOf(args: ArgsDef): Map<string, Flag> {
  const flags = new Map<string, Flag>();
  for (const [name, definition] of Object.entries(args)) {
    if (definition.type === "positional") continue;
    const flag: Flag = { name, takesValue: definition.type === "string" || definition.type === "enum" };
    const aliases = "alias" in definition ? [definition.alias ?? []].flat() : [];
    for (const spelling of [name, kebab(name), ...aliases]) flags.set(spelling, flag);
    if (!flag.takesValue) flags.set(`no-${kebab(name)}`, flag);
  }
  return flags;
}

/** @throws {UsageError} for a flag nobody knows, a flag without its value, or a word too many */
export function checkArguments(raw: readonly string[], args: ArgsDef, manyWords = false): void {
  const flags = flagsOf(args);
  const named = Object.values(args).filter(({ type }) => type === "positional").length;
  const room = manyWords ? Number.POSITIVE_INFINITY : named;
  const words: string[] = [];
  for (let i = 0; i < raw.length; i++) {
    const typed = raw[i] ?? "";
    if (typed === "--") {
      words.push(...raw.slice(i + 1));
      break;
    }
    if (!typed.startsWith("-") || typed === "-") {
      words.push(typed);
      continue;
    }
    const [spelling = ""] = typed.replace(/^-{1,2}/, "").split("=", 1);
    const flag = flags.get(spelling);
    if (flag === undefined) throw unknownFlag(typed.split("=", 1)[0] ?? "", [...flags.keys()]);
    if (!flag.takesValue || typed.includes("=")) continue;
    const value = raw[++i];
    if (value === undefined || /^--?[a-z]/i.test(value)) throw new UsageError(`--${spelling} needs a value.`);
  }
  const extra = words[room];
  if (extra === undefined) return;
  const meant =
    "prompt" in args
      ? ` Put a prompt in quotes: "${words.join(" ")}".`
      : "device" in args
        ? ` Did you mean --device ${extra}?`
        : "";
  throw new UsageError(`There is no place for "${extra}" here.${meant}`);
}

/** All values of a string flag, in order and by any of its spellings: the reader of arguments keeps only the last. */
export function everyValue(raw: readonly string[], name: string, args: ArgsDef): string[] {
  const definition = args[name];
  const aliases = definition !== undefined && "alias" in definition ? [definition.alias ?? []].flat() : [];
  const spellings = [name, kebab(name), ...aliases].map((each) => (each.length === 1 ? `-${each}` : `--${each}`));
  const end = raw.indexOf("--");
  return raw.slice(0, end < 0 ? raw.length : end).flatMap((typed, i) => {
    const [flag = "", ...value] = typed.split("=");
    if (!spellings.includes(flag)) return [];
    return value.length > 0 ? [value.join("=")] : [raw[i + 1] ?? ""];
  });
}

/** @param typed With its dashes, as it was. */
function unknownFlag(typed: string, known: readonly string[]): UsageError {
  const long = known.filter((each) => each.length > 1 && each === kebab(each));
  const near = closest(typed.replace(/^-+/, "").replaceAll("_", "-"), long);
  return new UsageError(`Unknown flag ${typed}.${near === null ? "" : ` Did you mean --${near}?`}`);
}
