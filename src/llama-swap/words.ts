// A command line as llama-swap reads it: comment lines dropped, macros filled in, split as a shell would, and each word
// written as text or, where it names a variable of the environment, as code. No shell ever sees it.

import { Code, type Written } from "../config/config-text.ts";
import type { Section } from "./source.ts";

const MOST_EXPANSIONS = 1_000;
const MACRO = /\$\{([A-Za-z0-9_-]+)\}/;
const ENVIRONMENT = /\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Filled in by SIR's driver, or by llama-swap at run time. */
const KEPT = new Set(["PORT", "PID"]);

export class Macros {
  readonly #values = new Map<string, string>();
  /** Names that were asked for and are no macros. */
  readonly unknown = new Set<string>();

  /** Of the model before those of the file. */
  constructor(global: Section, own: Section | null, modelId: string | null) {
    for (const section of [global, own]) {
      for (const [name, { value }] of section?.fields ?? []) this.#values.set(name, String(value));
    }
    if (modelId !== null) this.#values.set("MODEL_ID", modelId);
  }

  fill(text: string): string {
    let rest = text;
    let done = "";
    for (let steps = 0; ; steps++) {
      const found = MACRO.exec(rest);
      if (found === null || steps === MOST_EXPANSIONS) return done + rest;
      const name = found[1] ?? "";
      const value = this.#values.get(name);
      if (value === undefined) {
        if (!KEPT.has(name)) this.unknown.add(name);
        const end = found.index + found[0].length;
        done += rest.slice(0, end);
        rest = rest.slice(end);
      } else rest = rest.slice(0, found.index) + value + rest.slice(found.index + found[0].length);
    }
  }
}

/** Before macros are filled in, so that a macro in a comment brings nothing with it. */
export function withoutComments(text: string): string {
  return text
    .split("\n")
    .filter((line) => !line.trim().startsWith("#"))
    .map((line) => line.replace(/\\\s*$/, " "))
    .join("\n");
}

/** Null when a quote is not closed. */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: "'" | '"' | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (quote !== null) {
      if (char === quote) quote = null;
      else if (char === "\\" && quote === '"' && /["\\$`\n]/.test(text[at + 1] ?? "")) word += text[++at] ?? "";
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === "\\" && at + 1 < text.length) word = (word ?? "") + (text[++at] ?? "");
    else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + char;
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}

export const namesEnvironment = (text: string): boolean => new RegExp(ENVIRONMENT.source).test(text);

/** A text, or code where it names the environment: `env("HOME")` is defined in the file's prelude. */
export function written(text: string): Written {
  if (!namesEnvironment(text)) return text;
  const whole = new RegExp(`^${ENVIRONMENT.source}$`).exec(text);
  if (whole !== null) return new Code(`env("${whole[1]}")`);
  const parts = text.split(new RegExp(ENVIRONMENT.source));
  const code = parts.map((part, at) => (at % 2 === 1 ? `\${env("${part}")}` : escaped(part)));
  return new Code(`\`${code.join("")}\``);
}

const escaped = (text: string): string => text.replaceAll(/[\\`]|\$\{/g, (found) => `\\${found}`);

/** What a file needs whose values name the environment. */
export const ENV_PRELUDE: readonly string[] = [
  "/** As llama-swap has it: a variable that is not set is a fault. */",
  "const env = (name: string): string => {",
  "  const value = process.env[name];",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is written into a file
  "  if (value === undefined) throw new Error(`the environment has no ${name}`);",
  "  return value;",
  "};",
];

/** The number after the first of the flags that is there; null: none is, or it is no number. */
export function flagNumber(words: readonly string[], flags: readonly string[]): number | null {
  for (const [at, word] of words.entries()) {
    const flag = flags.find((each) => word === each || word.startsWith(`${each}=`));
    if (flag === undefined) continue;
    const value = word === flag ? words[at + 1] : word.slice(flag.length + 1);
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : null;
  }
  return null;
}
